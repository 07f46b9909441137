// Decisions that need no thread and no file.
#include "worker/daemon/rank_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agoq {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class RankStateTest : public testing::Test {
 protected:
  static v1::RankId Id() {
    v1::RankId id;
    id.set_job_id("job");
    id.set_generation(1);
    return id;
  }
  static Moment At(int second) {
    return {.now = Clock::Steady(seconds(second)), .unix_nanos = second};
  }
  static v1::TrainerHello Hello(bool is_started) {
    v1::TrainerHello hello;
    hello.set_started(is_started);
    return hello;
  }
  RankState state_{Id(), seconds(5)};
};

TEST_F(RankStateTest, AStartBeforeTheFirstHelloIsSentInAnswerToIt) {
  state_.AwaitHello(60, At(0));
  EXPECT_TRUE(state_.Start(At(1)).send.empty());
  const Reaction reaction = state_.TakeHello(Hello(false), At(2));
  ASSERT_EQ(reaction.send.size(), 1u);
  EXPECT_TRUE(reaction.send[0].has_start());
  EXPECT_EQ(reaction.tell->state(), v1::TaskStatus::STATE_RUNNING);
}

TEST_F(RankStateTest, ASecondStartSendsNothing) {
  state_.TakeHello(Hello(false), At(0));
  EXPECT_EQ(state_.Start(At(1)).send.size(), 1u);
  const Reaction again = state_.Start(At(2));
  EXPECT_TRUE(again.send.empty());
  EXPECT_EQ(again.tell->state(), v1::TaskStatus::STATE_RUNNING);
}

TEST_F(RankStateTest, AStopIsSentAgainOnTheNextConnection) {
  state_.TakeHello(Hello(true), At(0));
  state_.Drain(100, "why", At(1));
  const Reaction reaction = state_.TakeHello(Hello(true), At(2));
  ASSERT_EQ(reaction.send.size(), 1u);
  EXPECT_EQ(reaction.send[0].stop().reason(), "why");
}

TEST_F(RankStateTest, TheNearestStopDeadlineHolds) {
  state_.TakeHello(Hello(true), At(0));
  state_.Drain(100, "first", At(0));
  state_.Drain(10, "second", At(0));
  state_.Drain(50, "third", At(0));
  EXPECT_FALSE(state_.IsKillDue(At(9).now));
  EXPECT_TRUE(state_.IsKillDue(At(10).now));
}

TEST_F(RankStateTest, AHelloEndsTheWaitForIt) {
  state_.AwaitHello(60, At(0));
  state_.TakeHello(Hello(false), At(59));
  EXPECT_FALSE(state_.IsKillDue(At(1000).now));
}

TEST_F(RankStateTest, AReportWinsOverAKillThatCameTooLate) {
  state_.TakeHello(Hello(true), At(0));
  v1::TrainerEnd end;
  end.set_cause(v1::ATTEMPT_CAUSE_COMPLETED);
  state_.TakeEnd(end, At(3));
  state_.Abort("too late");
  const v1::TaskStatus status = ExitedStatus(state_.End(ProcessEnd{.signal = 9}, At(4)));
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(status.signal(), 9);
  EXPECT_EQ(status.at_unix_nanos(), 3);
}

TEST_F(RankStateTest, ARankThatIsOverAnswersEveryCommandWithItsEnd) {
  v1::TaskStatus exit;
  exit.set_state(v1::TaskStatus::STATE_EXITED);
  state_.SetExited(exit);
  EXPECT_EQ(state_.Start(At(1)).tell->state(), v1::TaskStatus::STATE_EXITED);
  EXPECT_EQ(state_.Drain(1, "", At(1)).tell->state(), v1::TaskStatus::STATE_EXITED);
  EXPECT_EQ(state_.Abort("").tell->state(), v1::TaskStatus::STATE_EXITED);
}

TEST(RankEndTest, AnExitCodeWithoutAReportIsARankExit) {
  const v1::TaskStatus status = ExitedStatus({.process = ProcessEnd{.exit_code = 7}});
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_RANK_EXIT);
  EXPECT_THAT(status.message(), HasSubstr("exit code 7"));
}

TEST(RankEndTest, OnlyADrainedOrphanGetsTheOrphansCause) {
  RankEnd end = {.report = v1::TrainerEnd(), .is_orphan = true};
  end.report->set_cause(v1::ATTEMPT_CAUSE_OOM);
  EXPECT_EQ(ExitedStatus(end).cause(), v1::ATTEMPT_CAUSE_OOM);
  end.report->set_cause(v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(ExitedStatus(end).cause(), v1::ATTEMPT_CAUSE_COORDINATOR_ORPHAN);
}

}  // namespace
}  // namespace agoq
