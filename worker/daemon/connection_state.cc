#include "worker/daemon/connection_state.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <utility>

namespace agoq {
namespace {

// Until a coordinator says another one: its own default.
constexpr double kOrphanLimitSeconds = 1800;

}  // namespace

ConnectionState::ConnectionState(const Clock& clock, std::string coordinator)
    : clock_(clock),
      coordinator_(std::move(coordinator)),
      reason_("not connected yet"),
      lost_at_(clock.Now()),
      orphan_limit_seconds_(kOrphanLimitSeconds) {}

void ConnectionState::SetConnected(double orphan_limit_seconds) {
  const std::lock_guard lock(mutex_);
  lost_at_.reset();
  orphan_limit_seconds_ = orphan_limit_seconds;
}

void ConnectionState::SetLost(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  reason_ = reason;
  if (!lost_at_) lost_at_ = clock_.Now();
}

bool ConnectionState::is_connected() const {
  const std::lock_guard lock(mutex_);
  return !lost_at_;
}

std::string ConnectionState::not_connected_reason() const {
  const std::lock_guard lock(mutex_);
  if (!lost_at_) return "";
  return absl::StrCat("no coordinator at ", coordinator_, ": ", reason_);
}

double ConnectionState::orphan_seconds() const {
  const std::lock_guard lock(mutex_);
  if (!lost_at_) return 0;
  return std::chrono::duration<double>(clock_.Now() - *lost_at_).count();
}

bool ConnectionState::is_orphan() const {
  const double seconds = orphan_seconds();
  const std::lock_guard lock(mutex_);
  return lost_at_ && orphan_limit_seconds_ > 0 && seconds > orphan_limit_seconds_;
}

}  // namespace agoq
