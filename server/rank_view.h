// What the coordinator heard of the ranks of running attempts. Not stored: workers tell it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/common/clock.h"

namespace agoq {

struct RankView {
  v1::TaskStatus status;  // last heard; unspecified: nothing
  std::optional<v1::ProfileResult> profile;
  v1::RankProgress progress;
  Clock::Steady stepped;  // when its step last advanced
  // Last command: sent again while it has no effect.
  v1::CoordinatorMessage::MessageCase sent_kind = v1::CoordinatorMessage::MESSAGE_NOT_SET;
  Clock::Steady sent;
  bool was_aborted = false;  // told to end before it did

  bool has_ended() const { return status.state() == v1::TaskStatus::STATE_EXITED; }
};

struct AttemptView {
  std::int64_t generation = 0;
  Clock::Steady began;           // or when this coordinator took it over
  Clock::Steady stopping_since;  // seen to be stopping
  bool is_stopping = false;
  std::vector<RankView> ranks;
};

}  // namespace agoq
