// The fake trainer says what the trainer says, and fails as the job's name wants it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "tests/integration/attempt_daemon.h"
#include "tests/support/fake_trainer/fake_training.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

const char* const kEndless = "{max_seconds: 1000, sequence_length: 16}";

bool IsHello(const v1::FromTrainer& message) { return message.has_hello(); }
bool IsNote(const v1::FromTrainer& message) { return message.has_note(); }

class FakeTrainer : public ::testing::Test {
 protected:
  void WriteJob(const std::string& name, JobText job = {}) {
    job.more = "name: " + name;
    folder_.WriteJob(job);
  }

  // A whole attempt; the exit code of its process.
  int Run(const AttemptOptions& options = {}) {
    AttemptUnderTest attempt(folder_.path(), options);
    AttemptDaemon daemon(attempt, keys_);
    daemon.Start();
    return attempt.process().Wait().exit_code;
  }

  TrainerFolder folder_;
  KeyTable keys_;
};

TEST_F(FakeTrainer, TellsStepsACheckpointAndAResult) {
  WriteJob("plain");
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  EXPECT_EQ(daemon.Await(IsHello).hello().pid(), attempt.process().pid());
  daemon.Start();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(end.result().steps(), 6);
  EXPECT_EQ(end.result().final_loss(), FakeLoss(6));
  EXPECT_EQ(daemon.AwaitStep(6).loss(), FakeLoss(6));
  EXPECT_GT(daemon.AwaitStep(1).peak_size(), 0);
  EXPECT_TRUE(std::filesystem::exists(daemon.AwaitCheckpoint().path()));
  EXPECT_EQ(attempt.process().Wait().exit_code, 0);
  EXPECT_EQ(attempt.EndFile().SerializeAsString(), end.SerializeAsString());
  EXPECT_EQ(attempt.Position()->phase, ProgressPhase::kEnded);
}

TEST_F(FakeTrainer, GoesOnFromItsNewestCheckpoint) {
  WriteJob("exit7-at-5-once", {.checkpoint = "{uri: saves, interval: 2}"});
  EXPECT_EQ(Run({.generation = 1}), 7);
  AttemptUnderTest attempt(folder_.path(), {.generation = 2});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  EXPECT_THAT(daemon.Await(IsNote).note().text(), HasSubstr("step-00000004"));
  EXPECT_EQ(daemon.AwaitStep(1).step(), 5);
  EXPECT_EQ(daemon.AwaitEnd().result().final_loss(), FakeLoss(6));
}

TEST_F(FakeTrainer, FailsAsTheNameWantsIt) {
  WriteJob("kill-at-3");
  EXPECT_EQ(Run({.generation = 1}), -SIGKILL);
  WriteJob("exit3-at-2-on-rank-1", {.checkpoint = "{}"});
  EXPECT_EQ(Run({.generation = 2}), 0);
  WriteJob("oom-at-3");
  EXPECT_EQ(Run({.generation = 3}), 1);
  WriteJob("usererror");
  EXPECT_EQ(Run({.generation = 4}), 2);
}

TEST_F(FakeTrainer, StopsWhenItIsAsked) {
  WriteJob("plain", {.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitStep(2);
  daemon.Stop();
  EXPECT_TRUE(daemon.AwaitEnd().result().stopped());
  EXPECT_EQ(attempt.process().Wait().exit_code, 143);
}

TEST_F(FakeTrainer, StopsOnTermination) {
  WriteJob("plain", {.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitStep(2);
  ::kill(attempt.process().pid(), SIGTERM);
  EXPECT_EQ(daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

TEST_F(FakeTrainer, IgnoresStopsIfTheNameWantsIt) {
  WriteJob("ignore-term", {.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  const std::int64_t step = daemon.AwaitStep(2).step();
  ::kill(attempt.process().pid(), SIGTERM);
  daemon.Stop();
  EXPECT_GT(daemon.AwaitStep(step + 100).step(), step);
}

TEST_F(FakeTrainer, HangsWithItsPageStandingStill) {
  WriteJob("hang-at-3", {.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitStep(3);
  EXPECT_EQ(attempt.Position()->step, 3);
  ::kill(attempt.process().pid(), SIGKILL);
  EXPECT_EQ(attempt.process().Wait().exit_code, -SIGKILL);
}

TEST_F(FakeTrainer, RanksMeetThroughTheirDaemons) {
  WriteJob("plain", {.mesh = "{data: 2}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  EXPECT_EQ(first_daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(second_daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_COMPLETED);
}

TEST_F(FakeTrainer, GoesOnUnderADaemonThatComesBack) {
  WriteJob("plain", {.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  {
    AttemptDaemon lost(attempt, keys_);
    lost.Start();
    lost.AwaitStep(2);
  }
  AttemptDaemon daemon(attempt, keys_);
  EXPECT_TRUE(daemon.Await(IsHello).hello().started());
  daemon.Stop();
  EXPECT_EQ(daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

}  // namespace
}  // namespace agoq
