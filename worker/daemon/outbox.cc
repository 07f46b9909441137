#include "worker/daemon/outbox.h"

#include <utility>

namespace agoq {

void Outbox::Open() {
  const std::lock_guard lock(mutex_);
  is_open_ = true;
}

void Outbox::Close() {
  const std::lock_guard lock(mutex_);
  is_open_ = false;
  messages_.clear();
}

void Outbox::Put(v1::WorkerMessage message) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return;
  messages_.push_back(std::move(message));
  put_.notify_one();
}

std::optional<v1::WorkerMessage> Outbox::Take(std::stop_token stop,
                                              std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  put_.wait_until(lock, stop, until, [this] { return !messages_.empty(); });
  if (messages_.empty() || stop.stop_requested()) return std::nullopt;
  v1::WorkerMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

}  // namespace agoq
