// Ctrl-C, for verbs that wait: it ends the waiting, never the job.
#pragma once

#include <chrono>

namespace agoq {

// While it lives, the first SIGINT of the process is remembered instead of ending it; a second one
// half a second later or more ends it. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool happened() const;
  // Waits for it at most that long; true if it happened.
  bool WaitFor(std::chrono::milliseconds limit) const;
  // Becomes readable once it happened.
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace agoq
