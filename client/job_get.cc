#include <memory>
#include <vector>

#include "client/exit_codes.h"
#include "client/job_text.h"
#include "client/job_verb.h"
#include "client/summary_text.h"
#include "client/verbs.h"

namespace agoq {
namespace {

struct GetOptions {
  std::string job;
  bool is_summary = false;
  OutputOptions output;
};

// Those of the newest attempt that the coordinator still knows.
std::vector<v1::Worker> WorkersOf(Coordinator& coordinator, const v1::Job& job) {
  std::vector<v1::Worker> workers;
  for (const v1::Placement& placement : job.attempt().placements()) {
    v1::GetWorkerRequest request;
    request.set_name(placement.worker());
    v1::GetWorkerResponse response;
    const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
      return coordinator.workers().GetWorker(context, request, &response);
    });
    if (status.ok()) workers.push_back(response.worker());
  }
  return workers;
}

int Get(const Invocation& invocation, const GetOptions& options) {
  Coordinator coordinator = invocation.Connect();
  v1::GetJobRequest request;
  request.set_job(options.job);
  v1::GetJobResponse response;
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.jobs().GetJob(context, request, &response);
  });
  if (!status.ok()) return invocation.Fail(status);
  const v1::Job& job = response.job();
  if (PrintMessage(invocation, options.output.format, job)) return kExitDone;
  std::ostream& out = invocation.console.out;
  if (options.output.format == Output::kName) {
    out << job.id() << "\n";
  } else if (options.is_summary) {
    out << SummaryText(job, WorkersOf(coordinator, job));
  } else {
    out << JobText(job, TextOptionsOf(invocation, options.output));
  }
  out << std::flush;
  return kExitDone;
}

}  // namespace

void AddJobGet(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<GetOptions>();
  CLI::App* const verb = group->add_subcommand("get", "Shows one job");
  AddJobArgument(verb, &options->job);
  verb->add_flag("--summary", options->is_summary,
                 "What it came to: loss, speed, bits, bytes and errors by worker");
  AddOutputOption(
      verb, &options->output,
      {Output::kTable, Output::kWide, Output::kJson, Output::kYaml, Output::kName, Output::kJsonl});
  verb->callback([=] { invocation->action = [=] { return Get(*invocation, *options); }; });
}

}  // namespace agoq
