#include <memory>
#include <vector>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/verbs.h"
#include "client/worker_text.h"

namespace agoq {
namespace {

constexpr int kPage = 500;

// All pages, as one.
absl::Status ListAll(Coordinator& coordinator, v1::ListWorkersResponse* all) {
  v1::ListWorkersRequest request;
  request.set_page_size(kPage);
  do {
    v1::ListWorkersResponse page;
    const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
      return coordinator.workers().ListWorkers(context, request, &page);
    });
    if (!status.ok()) return status;
    all->mutable_workers()->MergeFrom(page.workers());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

int List(const Invocation& invocation, const OutputOptions& output) {
  Coordinator coordinator = invocation.Connect();
  v1::ListWorkersResponse all;
  const absl::Status status = ListAll(coordinator, &all);
  if (!status.ok()) return invocation.Fail(status);
  std::ostream& out = invocation.console.out;
  if (output.format == Output::kName || output.format == Output::kJsonl) {
    for (const v1::Worker& worker : all.workers()) {
      if (!PrintMessage(invocation, output.format, worker)) out << worker.name() << "\n";
    }
    return kExitDone;
  }
  if (PrintMessage(invocation, output.format, all)) return kExitDone;
  if (all.workers().empty()) {
    invocation.Note("no workers; start one with: agoq-worker --coordinator " +
                    coordinator.address());
    return kExitDone;
  }
  out << WorkerTable({all.workers().begin(), all.workers().end()},
                     TextOptionsOf(invocation, output));
  return kExitDone;
}

}  // namespace

void AddWorkerList(CLI::App* group, Invocation* invocation) {
  const auto output = std::make_shared<OutputOptions>();
  CLI::App* const verb = group->add_subcommand("list", "Lists workers with state and memory");
  AddOutputOption(
      verb, output.get(),
      {Output::kTable, Output::kWide, Output::kJson, Output::kYaml, Output::kName, Output::kJsonl});
  AddHeaderOption(verb, output.get());
  verb->callback([=] { invocation->action = [=] { return List(*invocation, *output); }; });
}

}  // namespace agoq
