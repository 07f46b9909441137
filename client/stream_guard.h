// Ends a call that may last: at Ctrl-C, or when its time is over.
#pragma once

#include <grpcpp/client_context.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "client/interrupt.h"

namespace agoq {

using SteadyTime = std::chrono::steady_clock::time_point;

// `limit` from now, but not after `bound`.
SteadyTime DeadlineIn(std::chrono::duration<double> limit, std::optional<SteadyTime> bound);

class StreamGuard {
 public:
  enum class Cause { kNone, kInterrupted, kTimedOut };

  // Both outlive it. Without a deadline only Ctrl-C ends the call.
  StreamGuard(grpc::ClientContext* context, const Interrupt& interrupt,
              std::optional<SteadyTime> deadline);
  ~StreamGuard();

  void SetDeadline(std::optional<SteadyTime> deadline);
  // The call is over.
  void Stop();
  // Why it ended the call; kNone: it did not.
  Cause cause() const { return cause_.load(); }

 private:
  void Watch();
  void Wake() const;
  // Milliseconds to the deadline, for poll.
  int Patience() const;
  void End(Cause cause);

  grpc::ClientContext* const context_;
  const Interrupt& interrupt_;
  const int wake_fd_;
  std::atomic<Cause> cause_{Cause::kNone};
  std::atomic<bool> is_stopped_{false};
  mutable std::mutex mutex_;
  std::optional<SteadyTime> deadline_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace agoq
