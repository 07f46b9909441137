#include "server/worker_service.h"

#include <algorithm>

#include "proto/common/status.h"

namespace agoq {
namespace {

constexpr char kService[] = "WorkerService";
constexpr int kDefaultPage = 50;
constexpr int kLargestPage = 1000;

}  // namespace

grpc::ServerUnaryReactor* WorkerServiceImpl::ListWorkers(grpc::CallbackServerContext* context,
                                                         const v1::ListWorkersRequest* request,
                                                         v1::ListWorkersResponse* response) {
  return calls_.Answer(context, {kService, "ListWorkers"}, [=, this](const Identity&) {
    const int wanted = request->page_size() > 0 ? request->page_size() : kDefaultPage;
    const int page = std::min(wanted, kLargestPage);
    // The token is the last name of the page before.
    auto worker = workers_.entries().upper_bound(request->page_token());
    for (; worker != workers_.entries().end(); ++worker) {
      if (response->workers_size() == page) {
        response->set_next_page_token(std::prev(worker)->first);
        break;
      }
      *response->add_workers() = workers_.Describe(worker->second);
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* WorkerServiceImpl::GetWorker(grpc::CallbackServerContext* context,
                                                       const v1::GetWorkerRequest* request,
                                                       v1::GetWorkerResponse* response) {
  return calls_.Answer(
      context, {kService, "GetWorker", request->name()}, [=, this](const Identity&) {
        const WorkerEntry* const worker = workers_.Find(request->name());
        if (worker == nullptr) {
          return ResourceNotFound("worker", request->name(), "see agoq worker list");
        }
        *response->mutable_worker() = workers_.Describe(*worker);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* WorkerServiceImpl::SetWorkerMode(grpc::CallbackServerContext* context,
                                                           const v1::SetWorkerModeRequest* request,
                                                           v1::SetWorkerModeResponse*) {
  return calls_.Answer(context, {kService, "SetWorkerMode", request->name()}, [](const Identity&) {
    return NotInThisVersion("WorkerService/SetWorkerMode");
  });
}

}  // namespace agoq
