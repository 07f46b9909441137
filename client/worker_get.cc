#include <memory>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/verbs.h"
#include "client/worker_text.h"

namespace agoq {
namespace {

struct GetOptions {
  std::string name;
  OutputOptions output;
};

int Get(const Invocation& invocation, const GetOptions& options) {
  Coordinator coordinator = invocation.Connect();
  v1::GetWorkerRequest request;
  request.set_name(options.name);
  v1::GetWorkerResponse response;
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.workers().GetWorker(context, request, &response);
  });
  if (!status.ok()) return invocation.Fail(status);
  if (PrintMessage(invocation, options.output.format, response.worker())) return kExitDone;
  const bool is_name = options.output.format == Output::kName;
  invocation.console.out << (is_name ? response.worker().name() + "\n"
                                     : WorkerText(response.worker(),
                                                  TextOptionsOf(invocation, options.output)))
                         << std::flush;
  return kExitDone;
}

}  // namespace

void AddWorkerGet(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<GetOptions>();
  CLI::App* const verb = group->add_subcommand("get", "Shows one worker and its devices");
  verb->add_option("name", options->name, "Name of the worker")->type_name("WORKER")->required();
  AddOutputOption(verb, &options->output,
                  {Output::kTable, Output::kJson, Output::kYaml, Output::kName, Output::kJsonl});
  verb->callback([=] { invocation->action = [=] { return Get(*invocation, *options); }; });
}

}  // namespace agoq
