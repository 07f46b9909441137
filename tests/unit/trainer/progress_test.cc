#include "worker/trainer/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "proto/common/text_table.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

StepReport Step(std::int64_t step, std::int64_t total) {
  return {.step = step,
          .total_steps = total,
          .progress = static_cast<double>(step) / static_cast<double>(total),
          .loss = 2.10342,
          .tokens = 2048,
          .seconds = 0.25,
          .counted_bytes = 64 << 20};
}

TEST(ProgressLine, ShowsBarStepLossSpeedMemoryErrorAndTimeLeft) {
  const ProgressView view = {
      .step = Step(50, 200),
      .tokens_per_second = 14200,
      .seconds_left = 74.2,
      .errors = {{.site = "x1", .ratio = 0.03}, {.site = "up", .ratio = 0.04}}};
  EXPECT_EQ(ProgressLine(view, 200),
            "[#####...............] 25%  step 50/200  loss 2.1034  14.2k tok/s  64.0 MiB  "
            "err 3.54%  left 1:15");
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
  EXPECT_THAT(ProgressLine({.step = Step(50, 200)}, 200),
              AllOf(Not(HasSubstr("err")), Not(HasSubstr("left"))));
}

TEST(ProgressLine, NamesNoTotalWhenTimeAloneBoundsTheRun) {
  StepReport step = Step(50, 200);
  step.total_steps = 0;
  EXPECT_THAT(ProgressLine({.step = step}, 200), HasSubstr("step 50  "));
}

TEST(ProgressLine, KeepsToTheWidth) {
  EXPECT_EQ(ProgressLine({.step = Step(50, 200)}, 30).size(), 30u);
}

TEST(ProgressLine, KeepsBarAndTimeLeftIn79Columns) {
  const std::string line = ProgressLine({.step = Step(50, 200),
                                         .tokens_per_second = 14200,
                                         .seconds_left = 74.2,
                                         .errors = {{.site = "x1", .ratio = 0.05}}},
                                        79);
  EXPECT_LE(line.size(), 79u);
  EXPECT_THAT(line, AllOf(StartsWith("[#"), EndsWith("left 1:15")));
}

TEST(ProgressLine, ShowsHours) {
  EXPECT_THAT(ProgressLine({.step = Step(1, 200), .seconds_left = 3723}, 200),
              HasSubstr("left 1:02:03"));
}

TEST(ProgressLine, SurvivesALossThatIsNoNumber) {
  StepReport step = Step(1, 200);
  step.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ProgressLine({.step = step}, 200), HasSubstr("loss nan"));
}

TEST(BytesText, ChoosesTheUnit) {
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(3 << 19), "1.5 MiB");
  EXPECT_EQ(BytesText(std::int64_t{3} << 29), "1.50 GiB");
}

TEST(ProgressPrinter, RewritesOneLineOnATerminal) {
  std::ostringstream out;
  {
    ProgressPrinter printer({.live = true, .width = 100}, out);
    for (int step = 1; step <= 3; ++step) printer.OnStep(Step(step, 3));
  }
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 3);
}

TEST(ProgressPrinter, PutsNotesOnLinesOfTheirOwnOnATerminal) {
  std::ostringstream out;
  ProgressPrinter printer({.live = true, .width = 100}, out);
  printer.OnStep(Step(1, 3));
  printer.OnCheckpoint("saves/step-00000001");
  EXPECT_THAT(out.str(), HasSubstr("\ncheckpoint: saves/step-00000001\n"));
}

TEST(ProgressPrinter, WritesFirstAndLastStepAsPlainLines) {
  std::ostringstream out;
  ProgressPrinter printer({.plain_interval = std::chrono::hours(1)}, out);
  for (int step = 1; step <= 5; ++step) printer.OnStep(Step(step, 5));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text, AllOf(HasSubstr("step 1/5"), HasSubstr("step 5/5"), Not(HasSubstr("\r"))));
}

TEST(ProgressPrinter, TellsASkippedStepAlways) {
  std::ostringstream out;
  ProgressPrinter printer({.plain_interval = std::chrono::hours(1)}, out);
  printer.OnStep(Step(1, 5));
  StepReport bad = Step(2, 5);
  bad.skipped = true;
  bad.non_finite = "rank 1, model.norm.weight, block 0";
  printer.OnStep(bad);
  EXPECT_THAT(out.str(), HasSubstr("step 2 changed nothing: rank 1, model.norm.weight, block 0"));
}

TEST(ProgressPrinter, KeepsTheLastSampledError) {
  std::ostringstream out;
  ProgressPrinter printer({.plain_interval = std::chrono::milliseconds(0)}, out);
  StepReport sampled = Step(1, 5);
  sampled.errors = {{.site = "x1", .ratio = 0.05}};
  printer.OnStep(sampled);
  out.str("");
  printer.OnStep(Step(2, 5));
  EXPECT_THAT(out.str(), HasSubstr("err 5.00%"));
}

}  // namespace
}  // namespace agoq
