#include <memory>

#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {

void AddJobWait(CLI::App* group, Invocation* invocation) {
  struct Options {
    std::string job;
    std::string goal = "terminal";
    double limit_seconds = 0;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = group->add_subcommand(
      "wait", "Waits for a job's end, good or bad; the exit code is the job's");
  AddJobArgument(verb, &options->job);
  verb->add_option("--for", options->goal, "terminal: it is over; running: every rank trains")
      ->type_name("terminal|running")
      ->check(CLI::IsMember({"terminal", "running"}))
      ->capture_default_str();
  // Hides the option for calls of the same name.
  verb->add_option("--timeout", options->limit_seconds, "Longest wait (default: none)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e9));
  verb->callback([=] {
    invocation->action = [=] {
      Coordinator coordinator = invocation->Connect();
      return WaitForJob(
          *invocation, coordinator, options->job,
          {.limit_seconds = options->limit_seconds, .until_running = options->goal == "running"});
    };
  });
}

}  // namespace agoq
