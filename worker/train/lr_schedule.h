// The learning rate of an update. Pure.
#pragma once

#include <cstdint>

#include "worker/train/train_options.h"

namespace agoq {

struct SchedulePoint {
  std::int64_t update = 1;  // of this update, from 1: the first one is not wasted on a zero rate
  std::int64_t total_steps = 0;  // 0: bounded by time alone
  double time_fraction = 0;      // part of the allowed time that has passed; 0 without a bound
};

// Linear warm-up, then a cosine down to min_rate_ratio at the end. Whichever bound is nearer, steps
// or time, drives the cosine.
double LearningRate(const OptimizerOptions& options, const SchedulePoint& point);

}  // namespace agoq
