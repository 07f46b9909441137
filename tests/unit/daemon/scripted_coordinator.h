// An AgentService that a test plays, over a Unix socket, so that it can go and come back under one
// address.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <memory>
#include <string>

#include "proto/agoq/v1/agent_service.grpc.pb.h"
#include "tests/unit/daemon/awaited_queue.h"

namespace agoq {

// One session, from its Hello on. Shared by the test and the server's thread.
class ScriptedSession {
 public:
  using Stream = grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::WorkerMessage>;

  ScriptedSession(grpc::ServerContext* context, Stream* stream)
      : context_(context), stream_(stream) {}

  AwaitedQueue<v1::WorkerMessage> received;

  // While the session stands.
  bool Send(const v1::CoordinatorMessage& message) { return stream_->Write(message); }
  void Cut() { context_->TryCancel(); }

  bool Welcome(std::int64_t epoch, double heartbeat_seconds = 1000) {
    v1::CoordinatorMessage message;
    message.set_epoch(epoch);
    message.mutable_welcome()->set_protocol(1);
    message.mutable_welcome()->set_heartbeat_seconds(heartbeat_seconds);
    return Send(message);
  }
  v1::WorkerMessage Await(v1::WorkerMessage::MessageCase kind) {
    return received
        .TakeFirst([kind](const v1::WorkerMessage& got) { return got.message_case() == kind; })
        .value_or(v1::WorkerMessage());
  }
  void Run() {
    v1::WorkerMessage message;
    while (stream_->Read(&message)) received.Put(message);
  }

 private:
  grpc::ServerContext* const context_;
  Stream* const stream_;
};

class ScriptedCoordinator : public v1::AgentService::Service {
 public:
  explicit ScriptedCoordinator(std::string address) : address_(std::move(address)) { Listen(); }
  ~ScriptedCoordinator() override { Leave(); }

  void Listen() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  // Cuts everything.
  void Leave() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  std::shared_ptr<ScriptedSession> AwaitSession() { return sessions_.Take().value_or(nullptr); }
  // Every session that begins from here on ends so.
  void Refuse(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(status);
  }

  grpc::Status Session(grpc::ServerContext* context, ScriptedSession::Stream* stream) override {
    const auto session = std::make_shared<ScriptedSession>(context, stream);
    sessions_.Put(session);
    if (const grpc::Status status = refusal(); !status.ok()) return status;
    session->Run();
    return grpc::Status::OK;
  }

  // Keys: the answers that a test has put, in order.
  struct KeyReply {
    grpc::Status status;
    std::string value;
  };
  AwaitedQueue<KeyReply> key_replies;
  AwaitedQueue<std::string> asked_keys;

  grpc::Status SetKey(grpc::ServerContext*, const v1::SetKeyRequest* request,
                      v1::SetKeyResponse*) override {
    asked_keys.Put(request->key() + "=" + request->value());
    return key_replies.Take().value_or(KeyReply()).status;
  }
  grpc::Status WaitKey(grpc::ServerContext* context, const v1::WaitKeyRequest* request,
                       v1::WaitKeyResponse* response) override {
    asked_keys.Put(request->key());
    if (request->key() == "never") {
      while (!context->IsCancelled()) std::this_thread::yield();
      return {grpc::StatusCode::CANCELLED, ""};
    }
    const KeyReply reply = key_replies.Take().value_or(KeyReply());
    response->set_value(reply.value);
    return reply.status;
  }

 private:
  grpc::Status refusal() {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }

  const std::string address_;
  std::mutex mutex_;
  grpc::Status refusal_;
  AwaitedQueue<std::shared_ptr<ScriptedSession>> sessions_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace agoq
