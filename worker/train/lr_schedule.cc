#include "worker/train/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace agoq {
namespace {

double StepFraction(const OptimizerOptions& options, const SchedulePoint& point) {
  const std::int64_t cosine_steps = point.total_steps - options.warmup_steps;
  if (point.total_steps == 0 || cosine_steps <= 0) return 0;
  return static_cast<double>(point.update - options.warmup_steps) /
         static_cast<double>(cosine_steps);
}

}  // namespace

double LearningRate(const OptimizerOptions& options, const SchedulePoint& point) {
  const double fraction =
      std::clamp(std::max(StepFraction(options, point), point.time_fraction), 0.0, 1.0);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * fraction));
  const double warmup = options.warmup_steps == 0
                            ? 1.0
                            : std::min(1.0, static_cast<double>(point.update) /
                                                static_cast<double>(options.warmup_steps));
  return options.learning_rate * warmup *
         (options.min_rate_ratio + (1 - options.min_rate_ratio) * cosine);
}

}  // namespace agoq
