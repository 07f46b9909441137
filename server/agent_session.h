// One worker's session: reads its messages, posts them to the state thread, and is the link by
// which commands reach it.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>

#include "proto/agoq/v1/agent_service.pb.h"
#include "server/message_stream.h"
#include "server/worker_registry.h"

namespace agoq {

class AgentSession;

// Receives on the state thread.
class SessionHandler {
 public:
  virtual ~SessionHandler() = default;
  // The first message. An error ends the session.
  virtual absl::Status OnHello(const v1::Hello& hello, std::shared_ptr<AgentSession> session) = 0;
  virtual void OnMessage(const std::string& worker, const v1::WorkerMessage& message) = 0;
  virtual void OnEnd(const std::string& worker, const AgentSession* session) = 0;
};

class AgentSession
    : public MessageStream<grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>,
                           v1::CoordinatorMessage>,
      public WorkerLink,
      public std::enable_shared_from_this<AgentSession> {
 public:
  using Poster = std::function<bool(std::function<void()>)>;

  // `handler` outlives it; `post` runs a task on the state thread.
  static std::shared_ptr<AgentSession> Start(SessionHandler& handler, Poster post);

  void Send(const v1::CoordinatorMessage& message) override;
  void Close(const absl::Status& status) override;

  void OnReadDone(bool ok) override;

 protected:
  void OnGone() override;

 private:
  AgentSession(SessionHandler& handler, Poster post) : handler_(handler), post_(std::move(post)) {}
  void Handle(const v1::WorkerMessage& message);

  SessionHandler& handler_;
  const Poster post_;
  v1::WorkerMessage incoming_;
  std::string worker_;  // state thread alone; empty: no hello so far
};

}  // namespace agoq
