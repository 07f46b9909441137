// The last steps of a running rank, as the numbers that people ask for. Pure.
#pragma once

#include <cstddef>
#include <deque>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

class StepWindow {
 public:
  static constexpr std::size_t kSteps = 50;

  void Add(const v1::TrainerStep& step);
  // Nothing done yet: all zero, seconds_left -1.
  v1::JobProgress Progress() const;

 private:
  double SecondsOfSteps() const;
  double SecondsLeft() const;

  std::deque<v1::TrainerStep> steps_;  // oldest first
};

}  // namespace agoq
