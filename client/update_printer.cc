#include "client/update_printer.h"

#include "client/event_text.h"
#include "client/job_text.h"
#include "client/message_text.h"

namespace agoq {

UpdatePrinter::UpdatePrinter(const Invocation& invocation, bool prints_json)
    : invocation_(invocation),
      prints_json_(prints_json),
      progress_({.is_live = invocation.console.err_is_terminal, .width = invocation.console.width},
                invocation.console.err) {}

void UpdatePrinter::Show(const v1::WatchJobResponse& update) {
  if (prints_json_) {
    invocation_.console.out << JsonLine(update) << std::flush;
    return;
  }
  if (update.has_event()) {
    progress_.EndLine();
    invocation_.console.out << EventLine(update.event(), invocation_.uses_color()) << std::flush;
  }
  ShowState(update.job());
  const bool is_training = update.job().status().state() == v1::JOB_STATE_RUNNING;
  const v1::JobProgress& progress = update.job().status().progress();
  if (is_training && progress.step() > 0 && !invocation_.options.is_quiet) progress_.Show(progress);
}

void UpdatePrinter::ShowState(const v1::Job& job) {
  if (name_.empty()) name_ = job.spec().name();
  v1::Job shown = job;
  shown.mutable_spec()->set_name(name_);
  const std::string line = StateLine(shown, invocation_.uses_color());
  if (line == last_state_) return;
  last_state_ = line;
  progress_.EndLine();
  invocation_.console.out << line << "\n" << std::flush;
}

void UpdatePrinter::Note(const std::string& text) {
  progress_.EndLine();
  invocation_.Note(text);
}

}  // namespace agoq
