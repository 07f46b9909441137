#include "server/state_thread.h"

#include <absl/time/time.h>
#include <pthread.h>

#include <utility>

namespace agoq {

StateThread::~StateThread() { Stop(); }

void StateThread::Start(std::chrono::milliseconds tick_interval, Task tick) {
  thread_ = std::jthread([this, tick_interval, tick = std::move(tick)] {
    ::pthread_setname_np(::pthread_self(), "state");
    Run(tick_interval, tick);
  });
}

bool StateThread::Post(Task task) {
  const absl::MutexLock lock(&mutex_);
  if (is_stopping_) return false;
  tasks_.push_back(std::move(task));
  return true;
}

void StateThread::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::size_t StateThread::queue_size() const {
  const absl::MutexLock lock(&mutex_);
  return tasks_.size();
}

void StateThread::Run(std::chrono::milliseconds tick_interval, const Task& tick) {
  auto next_tick = std::chrono::steady_clock::now() + tick_interval;
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_stopping_ || !tasks_.empty();
  };
  while (true) {
    std::deque<Task> tasks;
    bool is_last = false;
    {
      const absl::MutexLock lock(&mutex_);
      const auto patience = next_tick - std::chrono::steady_clock::now();
      mutex_.AwaitWithTimeout(absl::Condition(&has_work), absl::FromChrono(patience));
      tasks.swap(tasks_);
      is_last = is_stopping_;
    }
    for (const Task& task : tasks) task();
    if (is_last) return;
    if (std::chrono::steady_clock::now() < next_tick) continue;
    tick();
    next_tick = std::chrono::steady_clock::now() + tick_interval;
  }
}

}  // namespace agoq
