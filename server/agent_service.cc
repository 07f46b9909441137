#include "server/agent_service.h"

#include <memory>
#include <utility>

#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "server/agent_session.h"
#include "server/key_wait.h"
#include "server/log_receiver.h"

namespace agoq {
namespace {

constexpr char kService[] = "AgentService";

}  // namespace

grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* AgentServiceImpl::Session(
    grpc::CallbackServerContext* context) {
  const std::shared_ptr<AgentSession> session = AgentSession::Start(
      parts_.sessions,
      [this](std::function<void()> task) { return parts_.calls.state().Post(std::move(task)); });
  const absl::Status checked = parts_.calls.Check(*context, {kService, "Session"});
  if (!checked.ok()) session->Close(checked);
  return session.get();
}

grpc::ServerUnaryReactor* AgentServiceImpl::SetKey(grpc::CallbackServerContext* context,
                                                   const v1::SetKeyRequest* request,
                                                   v1::SetKeyResponse*) {
  return parts_.calls.Answer(
      context, {kService, "SetKey", request->id().job_id(), /*mutates=*/true},
      [=, this](const Identity&) {
        return parts_.rendezvous.Set(request->id(), request->key(), request->value());
      });
}

grpc::ServerUnaryReactor* AgentServiceImpl::WaitKey(grpc::CallbackServerContext* context,
                                                    const v1::WaitKeyRequest* request,
                                                    v1::WaitKeyResponse* response) {
  const std::shared_ptr<KeyWait> wait = KeyWait::Start(request->key(), response);
  const absl::Status checked =
      parts_.calls.Check(*context, {kService, "WaitKey", request->id().job_id()});
  if (!checked.ok()) {
    wait->End(checked);
    return wait.get();
  }
  const bool is_posted = parts_.calls.state().Post([this, wait, request = *request] {
    parts_.rendezvous.Wait(request.id(), request.key(),
                           [wait](const absl::StatusOr<std::string>& value) { wait->End(value); });
  });
  if (!is_posted) wait->End(ShuttingDown());
  return wait.get();
}

grpc::ServerUnaryReactor* AgentServiceImpl::CommitCheckpoint(
    grpc::CallbackServerContext* context, const v1::CommitCheckpointRequest* request,
    v1::CommitCheckpointResponse*) {
  return parts_.calls.Answer(
      context, {kService, "CommitCheckpoint", request->id().job_id()},
      [](const Identity&) { return NotInThisVersion("AgentService/CommitCheckpoint"); });
}

grpc::ServerReadReactor<v1::PushLogsRequest>* AgentServiceImpl::PushLogs(
    grpc::CallbackServerContext* context, v1::PushLogsResponse* response) {
  const absl::Status checked = parts_.calls.Check(*context, {kService, "PushLogs"});
  return new LogReceiver(parts_.logs, checked, response);
}

}  // namespace agoq
