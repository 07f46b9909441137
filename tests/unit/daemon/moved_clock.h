// A clock that stands still until a test moves it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>

#include "proto/common/clock.h"

namespace agoq {

class MovedClock : public Clock {
 public:
  Steady Now() const override { return Steady(passed_.load()); }
  Wall WallNow() const override {
    return Wall(std::chrono::seconds(1'700'000'000)) +
           std::chrono::duration_cast<Wall::duration>(passed_.load());
  }
  void Move(std::chrono::duration<double> time) {
    passed_ = passed_.load() + std::chrono::duration_cast<Steady::duration>(time);
  }

 private:
  std::atomic<Steady::duration> passed_{std::chrono::hours(1)};
};

}  // namespace agoq
