#include <memory>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/plan_job.h"
#include "client/plan_text.h"
#include "client/rank_text.h"
#include "client/verbs.h"

namespace agoq {

int PlanAndPrint(const Invocation& invocation, const JobReading& reading,
                 const OutputOptions& output) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = reading.job;
  v1::PlanJobResponse response;
  Coordinator coordinator = invocation.Connect(kPlanTime);
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.jobs().PlanJob(context, request, &response);
  });
  if (!status.ok()) return invocation.Fail(status);
  TellNewWarnings(invocation, reading, response.warnings());
  if (PrintMessage(invocation, output.format, response.plan())) return kExitDone;
  if (output.format == Output::kName) {
    invocation.console.out << response.plan().hash() << "\n";
    return kExitDone;
  }
  invocation.console.out << PlanText(response, ComputeOf(reading.job)) << std::flush;
  if (!response.fits_now()) invocation.Note("does not fit now: " + response.message());
  return kExitDone;
}

void AddJobPlan(CLI::App* group, Invocation* invocation) {
  struct Options {
    std::string file;
    OutputOptions output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb =
      group->add_subcommand("plan", "Shows what the workers would keep in how many bits");
  AddFileArgument(verb, &options->file);
  AddOutputOption(verb, &options->output,
                  {Output::kTable, Output::kJson, Output::kYaml, Output::kName});
  verb->callback([=] {
    invocation->action = [=] {
      const std::optional<JobReading> reading = ReadJobOrTell(*invocation, options->file);
      return reading ? PlanAndPrint(*invocation, *reading, options->output) : kExitUsage;
    };
  });
}

}  // namespace agoq
