#include "worker/daemon/step_window.h"

#include <gtest/gtest.h>

namespace agoq {
namespace {

v1::TrainerStep Step(std::int64_t step, double seconds, double done_ratio) {
  v1::TrainerStep message;
  message.set_step(step);
  message.set_total_steps(100);
  message.set_seconds(seconds);
  message.set_done_ratio(done_ratio);
  message.set_tokens(50);
  message.set_loss(static_cast<double>(step));
  return message;
}

TEST(StepWindowTest, KnowsNothingBeforeTheFirstStep) {
  const v1::JobProgress progress = StepWindow().Progress();
  EXPECT_EQ(progress.step(), 0);
  EXPECT_EQ(progress.seconds_left(), -1);
}

TEST(StepWindowTest, CannotTellTheEndFromOneStep) {
  StepWindow window;
  window.Add(Step(1, 2, 0.01));
  EXPECT_EQ(window.Progress().seconds_left(), -1);
  EXPECT_EQ(window.Progress().tokens_per_second(), 25);
}

TEST(StepWindowTest, TellsTheEndFromWhatTheLastStepsGained) {
  StepWindow window;
  for (int i = 1; i <= 10; ++i) window.Add(Step(i, 2, 0.01 * i));
  EXPECT_NEAR(window.Progress().seconds_left(), 180, 1e-9);
  EXPECT_EQ(window.Progress().loss(), 10);
  EXPECT_EQ(window.Progress().total_steps(), 100);
}

TEST(StepWindowTest, QuantilesAreOfTheLastFiftySteps) {
  StepWindow window;
  for (int i = 1; i <= 10; ++i) window.Add(Step(i, 1000, 0));
  for (int i = 1; i <= 50; ++i) window.Add(Step(10 + i, i, 0));
  EXPECT_EQ(window.Progress().step_seconds_p50(), 25);
  EXPECT_EQ(window.Progress().step_seconds_p95(), 48);
}

TEST(StepWindowTest, NothingIsLeftAtTheEnd) {
  StepWindow window;
  window.Add(Step(1, 2, 1));
  EXPECT_EQ(window.Progress().seconds_left(), 0);
}

}  // namespace
}  // namespace agoq
