// AgentService: sessions, rendezvous keys and logs of the workers.
#pragma once

#include "proto/agoq/v1/agent_service.grpc.pb.h"
#include "server/calls.h"
#include "server/log_store.h"
#include "server/rendezvous.h"
#include "server/worker_sessions.h"

namespace agoq {

class AgentServiceImpl : public v1::AgentService::CallbackService {
 public:
  struct Parts {
    Calls& calls;
    WorkerSessions& sessions;
    Rendezvous& rendezvous;
    LogStore& logs;
  };

  // All parts outlive it.
  explicit AgentServiceImpl(const Parts& parts) : parts_(parts) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* SetKey(grpc::CallbackServerContext* context,
                                   const v1::SetKeyRequest* request,
                                   v1::SetKeyResponse* response) override;
  grpc::ServerUnaryReactor* WaitKey(grpc::CallbackServerContext* context,
                                    const v1::WaitKeyRequest* request,
                                    v1::WaitKeyResponse* response) override;
  grpc::ServerUnaryReactor* CommitCheckpoint(grpc::CallbackServerContext* context,
                                             const v1::CommitCheckpointRequest* request,
                                             v1::CommitCheckpointResponse* response) override;
  grpc::ServerReadReactor<v1::PushLogsRequest>* PushLogs(grpc::CallbackServerContext* context,
                                                         v1::PushLogsResponse* response) override;

 private:
  const Parts parts_;
};

}  // namespace agoq
