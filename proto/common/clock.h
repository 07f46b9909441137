// Time as an interface, so that decisions can be tested under a clock that a test moves.
#pragma once

#include <chrono>

namespace agoq {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  // For durations and deadlines: never set back.
  virtual Steady Now() const = 0;
  // For people and records only.
  virtual Wall WallNow() const = 0;
};

class RealClock : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace agoq
