// The one thread that touches jobs, workers and the store: runs what is posted, in order, and a
// tick at a steady pace.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <deque>
#include <functional>
#include <thread>

namespace agoq {

class StateThread {
 public:
  using Task = std::function<void()>;

  StateThread() = default;
  // Stops.
  ~StateThread();

  void Start(std::chrono::milliseconds tick_interval, Task tick);
  // Any thread. False, and nothing happens: it has stopped.
  bool Post(Task task);
  // Runs what was posted so far, then ends the thread. Not from it.
  void Stop();
  std::size_t queue_size() const;

 private:
  void Run(std::chrono::milliseconds tick_interval, const Task& tick);

  mutable absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace agoq
