#include "client/values_text.h"

#include <gtest/gtest.h>

#include "client/progress_line.h"

namespace agoq {
namespace {

TEST(ValuesText, WritesTimesAsPeopleReadThem) {
  EXPECT_EQ(ClockText(75), "1:15");
  EXPECT_EQ(ClockText(3725), "1:02:05");
  const WallTime start;
  EXPECT_EQ(AgeText(start, start + std::chrono::seconds(42)), "42s");
  EXPECT_EQ(AgeText(start, start + std::chrono::minutes(5)), "5m");
  EXPECT_EQ(AgeText(start, start + std::chrono::hours(72)), "3d");
}

TEST(ValuesText, AClockThatWasSetBackMakesNoNegativeAge) {
  const WallTime start;
  EXPECT_EQ(AgeText(start, start - std::chrono::seconds(5)), "0s");
}

TEST(ValuesText, WritesTimestampsInUtc) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(86400 + 3661);
  EXPECT_EQ(TimeText(timestamp), "1970-01-02 01:01:01Z");
}

TEST(ValuesText, WritesEnumsAsWords) {
  EXPECT_EQ(StateText(v1::JOB_STATE_RUNNING), "running");
  EXPECT_EQ(ReasonText(v1::JOB_REASON_INSUFFICIENT_MEMORY), "insufficient_memory");
  EXPECT_EQ(ReasonText(v1::JOB_REASON_UNSPECIFIED), "");
}

TEST(ValuesText, AStateOfALaterVersionIsItsNumber) {
  EXPECT_EQ(StateText(static_cast<v1::JobState>(77)), "77");
}

v1::JobProgress Quarter() {
  v1::JobProgress progress;
  progress.set_step(50);
  progress.set_done_ratio(0.25);
  progress.set_loss(2.1034);
  progress.set_tokens_per_second(950);
  progress.set_seconds_left(-1);
  return progress;
}

TEST(ProgressLine, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(ProgressLine(Quarter(), 80),
            "[#####...............] 25%  step 50  loss 2.1034  950 tok/s");
}

TEST(ProgressLine, FitsANarrowTerminal) {
  EXPECT_EQ(ProgressLine(Quarter(), 43), "[##.....] 25% step 50 loss 2.1034 950 tok/s");
  EXPECT_EQ(ProgressLine(Quarter(), 10).size(), 10u);
}

TEST(ProgressPrinter, WritesOverItsLineOnATerminal) {
  std::ostringstream out;
  {
    ProgressPrinter printer({.is_live = true, .width = 80}, out);
    printer.Show(Quarter());
  }
  EXPECT_EQ(out.str(), "\r[#####...............] 25%  step 50  loss 2.1034  950 tok/s\x1b[K\n");
}

TEST(ProgressPrinter, WritesFewLinesElsewhere) {
  std::ostringstream out;
  ProgressPrinter printer({}, out);
  for (int step = 1; step < 100; ++step) {
    v1::JobProgress progress = Quarter();
    progress.set_step(step);
    printer.Show(progress);
  }
  EXPECT_EQ(out.str(), "[#####...............] 25%  step 1  loss 2.1034  950 tok/s\n");
}

}  // namespace
}  // namespace agoq
