#include "server/agent_session.h"

#include <utility>

#include "proto/common/grpc_status.h"
#include "server/calls.h"

namespace agoq {

std::shared_ptr<AgentSession> AgentSession::Start(SessionHandler& handler, Poster post) {
  std::shared_ptr<AgentSession> session(new AgentSession(handler, std::move(post)));
  session->Own(session);
  session->StartRead(&session->incoming_);
  return session;
}

void AgentSession::Send(const v1::CoordinatorMessage& message) { Queue(message); }

void AgentSession::Close(const absl::Status& status) { FinishAfterQueue(ToGrpc(status)); }

void AgentSession::OnReadDone(bool ok) {
  if (!ok) return FinishAfterQueue(grpc::Status::OK);
  const bool is_posted =
      post_([self = shared_from_this(), message = std::move(incoming_)] { self->Handle(message); });
  if (!is_posted) return Close(ShuttingDown());
  StartRead(&incoming_);
}

void AgentSession::Handle(const v1::WorkerMessage& message) {
  if (!worker_.empty()) return handler_.OnMessage(worker_, message);
  if (!message.has_hello() || message.hello().worker().empty()) {
    return Close(
        absl::InvalidArgumentError("the first message of a session is Hello, with a name"));
  }
  const absl::Status joined = handler_.OnHello(message.hello(), shared_from_this());
  if (!joined.ok()) return Close(joined);
  worker_ = message.hello().worker();
}

void AgentSession::OnGone() {
  post_([self = shared_from_this()] {
    if (!self->worker_.empty()) self->handler_.OnEnd(self->worker_, self.get());
  });
}

}  // namespace agoq
