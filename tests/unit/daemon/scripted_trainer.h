// The trainer's side of its socket, played by a test.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/message_socket.h"
#include "tests/unit/daemon/awaited_queue.h"

namespace agoq {

class ScriptedTrainer {
 public:
  // Listens from here on.
  explicit ScriptedTrainer(const std::filesystem::path& folder)
      : listener_(folder / "trainer.sock") {}

  // The next connection, on which it says Hello. False: none came.
  bool Connect(bool is_started) {
    socket_ = listener_.Accept(kTestPatience);
    v1::FromTrainer hello;
    hello.mutable_hello()->set_started(is_started);
    return socket_ && socket_->Send(hello);
  }
  void Disconnect() { socket_.reset(); }

  bool Send(const v1::FromTrainer& message) { return socket_->Send(message); }

  // The next message of the daemon; empty: none came.
  v1::ToTrainer Receive() {
    v1::ToTrainer message;
    const auto received = socket_->Receive(&message, kTestPatience);
    return received == MessageSocket::Received::kMessage ? message : v1::ToTrainer();
  }

 private:
  MessageListener listener_;
  std::unique_ptr<MessageSocket> socket_;
};

inline v1::FromTrainer EndMessage(v1::AttemptCause cause) {
  v1::FromTrainer message;
  message.mutable_end()->set_cause(cause);
  return message;
}

}  // namespace agoq
