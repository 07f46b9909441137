// Follows a job through connections that break: a coordinator that restarts loses no watcher.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <optional>
#include <string>

#include "client/coordinator.h"
#include "client/interrupt.h"

namespace agoq {

struct FollowRequest {
  std::string job;                                             // id or name
  std::function<bool(const v1::Job&)> is_done;                 // the wait ends here
  std::optional<SteadyTime> deadline;                          // of the wait
  std::chrono::seconds reconnect_patience{60};                 // for a coordinator that went away
  std::function<void(const v1::WatchJobResponse&)> on_update;  // may be empty
  std::function<void(const std::string&)> on_note;             // for people
};

struct Followed {
  enum class End { kDone, kTimedOut, kInterrupted, kFailed };
  End end = End::kFailed;
  absl::Status status;  // kFailed: why
  v1::Job job;          // as last seen; empty: never seen
};

Followed FollowJob(Coordinator& coordinator, const Interrupt& interrupt,
                   const FollowRequest& request);

}  // namespace agoq
