#include "worker/train/lr_schedule.h"

#include <gtest/gtest.h>

namespace agoq {
namespace {

OptimizerOptions Options() {
  return {.learning_rate = 1e-3, .warmup_steps = 10, .min_rate_ratio = 0.1};
}

TEST(LrScheduleTest, G13WarmUpGivesUpdateKItsShare) {
  for (std::int64_t k = 1; k <= 10; ++k) {
    EXPECT_DOUBLE_EQ(LearningRate(Options(), {.update = k, .total_steps = 100}),
                     1e-4 * static_cast<double>(k));
  }
}

TEST(LrScheduleTest, CosineIsHalfWayInTheMiddle) {
  EXPECT_DOUBLE_EQ(LearningRate(Options(), {.update = 55, .total_steps = 100}), 1e-3 * 0.55);
}

TEST(LrScheduleTest, LastUpdateHasTheLowestRate) {
  EXPECT_DOUBLE_EQ(LearningRate(Options(), {.update = 100, .total_steps = 100}), 1e-4);
}

TEST(LrScheduleTest, TimeDrivesTheCosineWhenItIsTheNearerBound) {
  EXPECT_DOUBLE_EQ(LearningRate(Options(), {.update = 20, .time_fraction = 0.5}), 1e-3 * 0.55);
  EXPECT_DOUBLE_EQ(
      LearningRate(Options(), {.update = 20, .total_steps = 1000000, .time_fraction = 1.2}), 1e-4);
}

TEST(LrScheduleTest, WithoutWarmUpTheFirstUpdateHasTheWholeRate) {
  OptimizerOptions options = Options();
  options.warmup_steps = 0;
  EXPECT_NEAR(LearningRate(options, {.update = 1, .total_steps = 1000}), 1e-3, 1e-8);
}

}  // namespace
}  // namespace agoq
