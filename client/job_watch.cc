#include <memory>

#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {

void AddJobWatch(CLI::App* group, Invocation* invocation) {
  struct Options {
    std::string job;
    OutputOptions output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = group->add_subcommand(
      "watch", "Shows a job's events and progress to its end; the exit code is the job's");
  verb->footer("Ctrl-C ends the watching, not the job.");
  AddJobArgument(verb, &options->job);
  AddOutputOption(verb, &options->output, {Output::kTable, Output::kJsonl});
  verb->callback([=] {
    invocation->action = [=] {
      Coordinator coordinator = invocation->Connect();
      return WaitForJob(
          *invocation, coordinator, options->job,
          {.shows_updates = true, .prints_json = options->output.format == Output::kJsonl});
    };
  });
}

}  // namespace agoq
