// Keeps a write to a closed connection from ending the process.
#pragma once

#include <signal.h>
#include <time.h>

namespace agoq {

// Gloo writes to sockets without MSG_NOSIGNAL, on the calling thread and on its own. While a guard
// lives, SIGPIPE of this thread is held back and then dropped; threads started meanwhile inherit
// the blocked signal for good. Nothing process-wide changes. Guards may nest.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeGuard() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace agoq
