#include "worker/daemon/trainer_link.h"

#include <fcntl.h>

#include <utility>

#include "worker/daemon/attempt_folder.h"

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kConnectInterval{20};
constexpr std::chrono::milliseconds kReceivePatience{200};  // until a stop is noticed

}  // namespace

// By way of the open folder, since the name of a socket must be short.
TrainerLink::TrainerLink(const std::filesystem::path& folder, Handler handler)
    : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      socket_path_(AttemptFolder(PathOfOpenFile(folder_.get())).socket()),
      handler_(std::move(handler)) {}

void TrainerLink::Start() {
  thread_ = std::jthread([this](std::stop_token stop) { Run(std::move(stop)); });
}

bool TrainerLink::Send(const v1::ToTrainer& message) {
  std::shared_ptr<MessageSocket> socket;
  {
    const std::lock_guard lock(mutex_);
    socket = socket_;
  }
  return socket && socket->Send(message);
}

void TrainerLink::Finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void TrainerLink::Close() {
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    // Also wakes a receiver whose trainer stopped in the middle of a message.
    if (socket_) socket_->Shutdown();
  }
  Finish();
}

void TrainerLink::Run(std::stop_token stop) {
  while (const std::shared_ptr<MessageSocket> socket = Connect(stop)) {
    Receive(*socket, stop);
    const std::lock_guard lock(mutex_);
    socket_ = nullptr;
  }
}

std::shared_ptr<MessageSocket> TrainerLink::Connect(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::shared_ptr<MessageSocket> socket = ConnectMessageSocket(socket_path_);
    std::unique_lock lock(mutex_);
    if (is_closed_) return nullptr;
    socket_ = socket;
    if (socket) return socket;
    stopped_.wait_for(lock, stop, kConnectInterval, [] { return false; });
  }
  return nullptr;
}

void TrainerLink::Receive(MessageSocket& socket, std::stop_token stop) {
  while (true) {
    v1::FromTrainer message;
    const MessageSocket::Received received = socket.Receive(&message, kReceivePatience);
    if (received == MessageSocket::Received::kMessage) handler_(*this, message);
    if (received == MessageSocket::Received::kClosed) return;
    if (received == MessageSocket::Received::kTimeout && stop.stop_requested()) return;
  }
}

}  // namespace agoq
