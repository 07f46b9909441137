#include "client/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "client/exit_codes.h"

namespace agoq {
namespace {

// Wrappers such as timeout(1) send the first one twice.
constexpr std::int64_t kSecondAfterNs = 500'000'000;

// A handler reaches nothing but globals.
std::atomic<int> handler_fd{-1};
std::atomic<std::int64_t> first_ns{0};
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

void OnInterrupt(int) {
  const int saved = errno;
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  std::int64_t first = 0;
  if (!first_ns.compare_exchange_strong(first, now) && now - first > kSecondAfterNs) {
    ::_exit(kExitInterrupted);
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(handler_fd.load(), &one, sizeof(one));
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  handler_fd.store(fd_);
  first_ns.store(0);
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  ::signal(SIGINT, SIG_DFL);
  handler_fd.store(-1);
  ::close(fd_);
}

bool Interrupt::happened() const { return WaitFor(std::chrono::milliseconds(0)); }

bool Interrupt::WaitFor(std::chrono::milliseconds limit) const {
  pollfd waiting = {.fd = fd_, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(limit.count()));
  // Its own signal interrupts poll.
  return (ready < 0 ? ::poll(&waiting, 1, 0) : ready) == 1;
}

}  // namespace agoq
