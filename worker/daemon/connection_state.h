// Whether this worker has its coordinator, for the parts that only want to know.
#pragma once

#include <absl/base/thread_annotations.h>

#include <mutex>
#include <optional>
#include <string>

#include "proto/common/clock.h"

namespace agoq {

// Thread-safe.
class ConnectionState {
 public:
  // Not connected, since now.
  ConnectionState(const Clock& clock, std::string coordinator);

  void SetConnected(double orphan_limit_seconds);
  void SetLost(const std::string& reason);

  bool is_connected() const;
  // Empty: connected. Otherwise for people, with the address.
  std::string not_connected_reason() const;
  // 0: connected.
  double orphan_seconds() const;
  // The coordinator has been away for longer than it allowed.
  bool is_orphan() const;

 private:
  const Clock& clock_;
  const std::string coordinator_;
  mutable std::mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::Steady> lost_at_ ABSL_GUARDED_BY(mutex_);  // nothing: connected
  double orphan_limit_seconds_ ABSL_GUARDED_BY(mutex_);           // 0: for ever
};

}  // namespace agoq
