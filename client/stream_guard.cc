#include "client/stream_guard.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace agoq {

SteadyTime DeadlineIn(std::chrono::duration<double> limit, std::optional<SteadyTime> bound) {
  const SteadyTime end = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  return bound ? std::min(end, *bound) : end;
}

StreamGuard::StreamGuard(grpc::ClientContext* context, const Interrupt& interrupt,
                         std::optional<SteadyTime> deadline)
    : context_(context),
      interrupt_(interrupt),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      deadline_(deadline),
      thread_([this] { Watch(); }) {}

StreamGuard::~StreamGuard() {
  Stop();
  ::close(wake_fd_);
}

void StreamGuard::SetDeadline(std::optional<SteadyTime> deadline) {
  {
    const std::lock_guard lock(mutex_);
    if (deadline_ == deadline) return;
    deadline_ = deadline;
  }
  Wake();
}

void StreamGuard::Stop() {
  is_stopped_.store(true);
  Wake();
  if (thread_.joinable()) thread_.join();
}

void StreamGuard::Watch() {
  while (!is_stopped_.load()) {
    pollfd waiting[] = {{.fd = interrupt_.fd(), .events = POLLIN, .revents = 0},
                        {.fd = wake_fd_, .events = POLLIN, .revents = 0}};
    ::poll(waiting, 2, Patience());
    if (waiting[0].revents != 0) return End(Cause::kInterrupted);
    if (Patience() == 0) return End(Cause::kTimedOut);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_fd_, &count, sizeof(count));
  }
}

void StreamGuard::Wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

int StreamGuard::Patience() const {
  const std::lock_guard lock(mutex_);
  if (!deadline_) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - std::chrono::steady_clock::now());
  constexpr std::int64_t kLongest = 1 << 30;
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLongest));
}

void StreamGuard::End(Cause cause) {
  if (is_stopped_.load()) return;
  cause_.store(cause);
  context_->TryCancel();
}

}  // namespace agoq
