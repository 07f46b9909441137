// WorkerService: the workers as users see them.
#pragma once

#include "proto/agoq/v1/worker_service.grpc.pb.h"
#include "server/calls.h"
#include "server/worker_registry.h"

namespace agoq {

class WorkerServiceImpl : public v1::WorkerService::CallbackService {
 public:
  // Both outlive it.
  WorkerServiceImpl(Calls& calls, const WorkerRegistry& workers)
      : calls_(calls), workers_(workers) {}

  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const v1::ListWorkersRequest* request,
                                        v1::ListWorkersResponse* response) override;
  grpc::ServerUnaryReactor* GetWorker(grpc::CallbackServerContext* context,
                                      const v1::GetWorkerRequest* request,
                                      v1::GetWorkerResponse* response) override;
  grpc::ServerUnaryReactor* SetWorkerMode(grpc::CallbackServerContext* context,
                                          const v1::SetWorkerModeRequest* request,
                                          v1::SetWorkerModeResponse* response) override;

 private:
  Calls& calls_;
  const WorkerRegistry& workers_;
};

}  // namespace agoq
