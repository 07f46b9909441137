// A clock that only a test moves.
#pragma once

#include "proto/common/clock.h"

namespace agoq {

class FakeClock : public Clock {
 public:
  Steady Now() const override { return now_; }
  Wall WallNow() const override { return wall_; }
  void Advance(std::chrono::milliseconds time) {
    now_ += time;
    wall_ += time;
  }

 private:
  Steady now_{std::chrono::hours(1)};
  Wall wall_{std::chrono::hours(24 * 365 * 50)};
};

}  // namespace agoq
