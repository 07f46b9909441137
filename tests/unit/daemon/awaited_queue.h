// What one thread waits for and another one brings.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace agoq {

inline constexpr std::chrono::seconds kTestPatience{20};

// Thread-safe.
template <typename Item>
class AwaitedQueue {
 public:
  void Put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    put_.notify_all();
  }

  // The next item; nothing if none comes.
  std::optional<Item> Take() {
    return TakeFirst([](const Item&) { return true; });
  }

  // The next item that fits; those before it are dropped.
  template <typename Fits>
  std::optional<Item> TakeFirst(const Fits& fits) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
    while (put_.wait_until(lock, deadline, [this] { return !items_.empty(); })) {
      Item item = std::move(items_.front());
      items_.pop_front();
      if (fits(item)) return item;
    }
    return std::nullopt;
  }

  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return items_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable put_;
  std::deque<Item> items_;
};

}  // namespace agoq
