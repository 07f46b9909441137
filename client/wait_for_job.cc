#include <absl/strings/str_format.h>

#include "client/exit_codes.h"
#include "client/job_text.h"
#include "client/job_verb.h"
#include "client/update_printer.h"

namespace agoq {
namespace {

std::string CancelHint(const v1::Job& job) { return "cancel it with: agoq job cancel " + job.id(); }

// `wanted` is the job as the user named it.
int EndOfWait(const Invocation& invocation, const std::string& wanted, const Followed& followed,
              const WaitOptions& options) {
  v1::Job job = followed.job;
  if (job.id().empty()) job.set_id(wanted);  // interrupted before it was seen
  switch (followed.end) {
    case Followed::End::kFailed:
      return invocation.Fail(followed.status);
    case Followed::End::kInterrupted:
      invocation.Tell("interrupted; " + NameText(job) + " goes on, " + CancelHint(job));
      return kExitInterrupted;
    case Followed::End::kTimedOut:
      invocation.Tell(absl::StrFormat("%s is %s after %g s and goes on; wait longer, or %s",
                                      NameText(job), StateText(job.status().state()),
                                      options.limit_seconds, CancelHint(job)));
      return kExitWaitTimedOut;
    case Followed::End::kDone:
      break;
  }
  if (!options.shows_updates) invocation.Note(StateLine(job, false));
  const bool is_wanted = options.wants_cancel && job.status().state() == v1::JOB_STATE_CANCELLED;
  return is_wanted ? kExitDone : ExitCodeOf(job.status().state());
}

}  // namespace

int WaitForJob(const Invocation& invocation, Coordinator& coordinator, const std::string& job,
               const WaitOptions& options) {
  const Interrupt interrupt;
  UpdatePrinter printer(invocation, options.prints_json);
  FollowRequest request = {.job = job,
                           .is_done =
                               [&](const v1::Job& now) {
                                 const v1::JobState state = now.status().state();
                                 return IsOver(state) ||
                                        (options.until_running && state == v1::JOB_STATE_RUNNING);
                               },
                           .on_note = [&](const std::string& note) { printer.Note(note); }};
  if (options.limit_seconds > 0) {
    request.deadline = DeadlineIn(Seconds(options.limit_seconds), std::nullopt);
  }
  if (options.shows_updates) {
    request.on_update = [&](const v1::WatchJobResponse& update) { printer.Show(update); };
  }
  const Followed followed = FollowJob(coordinator, interrupt, request);
  printer.EndLine();
  return EndOfWait(invocation, job, followed, options);
}

}  // namespace agoq
