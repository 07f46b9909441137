#include <algorithm>
#include <memory>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/plan_job.h"
#include "client/verbs.h"
#include "proto/common/uuid.h"

namespace agoq {
namespace {

struct SubmitOptions {
  std::string file;
  std::string request_id;
  bool waits = false;
  bool watches = false;
  bool is_dry_run = false;
  bool allows_unsatisfiable = false;
  OutputOptions output;
};

// Empty: it is a UUID.
std::string ProblemOfUuid(const std::string& text) {
  bool is_uuid = text.size() == 36;
  for (std::size_t i = 0; is_uuid && i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    is_uuid = is_dash ? text[i] == '-' : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
  }
  if (is_uuid) return "";
  return "'" + text + "' is no UUID; write one like the output of uuidgen, or leave it out";
}

void PrintJob(const Invocation& invocation, const SubmitOptions& options, const v1::Job& job) {
  if (PrintMessage(invocation, options.output.format, job)) return;
  std::ostream& out = invocation.console.out;
  if (options.output.format == Output::kName) {
    out << job.id() << "\n" << std::flush;
  } else if (!invocation.options.is_quiet) {
    out << "job " << job.spec().name() << " submitted (" << job.id() << ")\n" << std::flush;
  }
}

int Submit(const Invocation& invocation, const SubmitOptions& options) {
  const std::optional<JobReading> reading = ReadJobOrTell(invocation, options.file);
  if (!reading) return kExitUsage;
  if (options.is_dry_run) return PlanAndPrint(invocation, *reading, options.output);
  v1::SubmitJobRequest request;
  request.set_request_id(options.request_id.empty() ? NewUuid() : options.request_id);
  *request.mutable_spec() = reading->job;
  request.set_allow_unsatisfiable(options.allows_unsatisfiable);
  v1::SubmitJobResponse response;
  Coordinator coordinator = invocation.Connect(kPlanTime);
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.jobs().SubmitJob(context, request, &response);
  });
  if (!status.ok()) return invocation.Fail(status);
  TellNewWarnings(invocation, *reading, response.warnings());
  PrintJob(invocation, options, response.job());
  if (!options.waits && !options.watches) return kExitDone;
  return WaitForJob(invocation, coordinator, response.job().id(),
                    {.shows_updates = options.watches});
}

}  // namespace

void AddJobSubmit(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* const verb = group->add_subcommand("submit", "Submits a job file");
  AddFileArgument(verb, &options->file);
  verb->add_flag("--wait", options->waits, "Wait for the end; the exit code is the job's");
  verb->add_flag("--watch", options->watches, "The same, with events and progress");
  verb->add_option("--request-id", options->request_id,
                   "Same id, same job: a repeated submit makes no second one")
      ->type_name("UUID")
      ->check(ProblemOfUuid);
  verb->add_flag("--allow-unsatisfiable", options->allows_unsatisfiable,
                 "Queue it although no set of workers can hold it now");
  verb->add_flag("--dry-run", options->is_dry_run, "Validate and plan only, as agoq job plan");
  AddOutputOption(verb, &options->output,
                  {Output::kTable, Output::kJson, Output::kYaml, Output::kName});
  verb->callback([=] { invocation->action = [=] { return Submit(*invocation, *options); }; });
}

}  // namespace agoq
