// The verbs cancel and kill.
#include <memory>

#include "client/exit_codes.h"
#include "client/job_text.h"
#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {
namespace {

struct StopOptions {
  std::string job;
  std::string mode = "cancel";
  double deadline_seconds = 0;
  bool waits = false;
  OutputOptions output;
};

v1::StopJobRequest::Mode ModeOf(const std::string& word) {
  if (word == "kill") return v1::StopJobRequest::MODE_KILL;
  return word == "drain" ? v1::StopJobRequest::MODE_DRAIN : v1::StopJobRequest::MODE_CANCEL;
}

int Stop(const Invocation& invocation, const StopOptions& options) {
  v1::StopJobRequest request;
  request.set_job(options.job);
  request.set_mode(ModeOf(options.mode));
  request.set_target(v1::JOB_STATE_CANCELLED);
  request.set_deadline_seconds(options.deadline_seconds);
  v1::StopJobResponse response;
  Coordinator coordinator = invocation.Connect();
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.jobs().StopJob(context, request, &response);
  });
  if (!status.ok()) return invocation.Fail(status);
  const v1::Job& job = response.job();
  if (options.output.format == Output::kName) {
    invocation.console.out << job.id() << "\n" << std::flush;
  } else if (!PrintMessage(invocation, options.output.format, job) &&
             !invocation.options.is_quiet) {
    invocation.console.out << StateLine(job, invocation.uses_color()) << "\n" << std::flush;
  }
  if (!options.waits) return kExitDone;
  return WaitForJob(invocation, coordinator, job.id(), {.wants_cancel = true});
}

void AddStopVerb(CLI::App* verb, Invocation* invocation,
                 const std::shared_ptr<StopOptions>& options) {
  AddJobArgument(verb, &options->job);
  verb->add_flag("--wait", options->waits, "Wait until it is over; 0 if it was cancelled");
  AddOutputOption(verb, &options->output,
                  {Output::kTable, Output::kJson, Output::kYaml, Output::kName});
  verb->callback([=] { invocation->action = [=] { return Stop(*invocation, *options); }; });
}

}  // namespace

void AddJobCancel(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<StopOptions>();
  CLI::App* const verb =
      group->add_subcommand("cancel", "Stops a job after its step, with a checkpoint");
  verb->add_option("--mode", options->mode,
                   "drain waits long for the checkpoint, cancel a short time; then it is killed")
      ->type_name("drain|cancel")
      ->check(CLI::IsMember({"drain", "cancel"}))
      ->capture_default_str();
  verb->add_option("--deadline", options->deadline_seconds,
                   "Seconds until it is killed (default: the coordinator's)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e6));
  AddStopVerb(verb, invocation, options);
}

void AddJobKill(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<StopOptions>();
  options->mode = "kill";
  AddStopVerb(group->add_subcommand("kill", "Stops a job at once, without a checkpoint"),
              invocation, options);
}

}  // namespace agoq
