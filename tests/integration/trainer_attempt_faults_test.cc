// agoq-trainer under a worker daemon that goes, a job that cannot be run, and a peer that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/attempt_daemon.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr int kStopped = 143;
// Longer than any test waits.
const char* const kEndless = "{max_seconds: 1000, sequence_length: 16, micro_batch_size: 2}";

bool IsHello(const v1::FromTrainer& message) { return message.has_hello(); }
bool IsKeySet(const v1::FromTrainer& message) { return message.has_key_set(); }

class TrainerAttemptFaults : public ::testing::Test {
 protected:
  void SetUp() override { folder_.Tokenize(); }

  TrainerFolder folder_;
  KeyTable keys_;
};

TEST_F(TrainerAttemptFaults, GoesOnUnderADaemonThatComesBack) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  std::int64_t last_step = 0;
  {
    AttemptDaemon lost(attempt, keys_);
    lost.Start();
    last_step = lost.AwaitStep(2).step();
  }
  AttemptDaemon daemon(attempt, keys_);
  const v1::TrainerHello hello = daemon.Await(IsHello).hello();
  EXPECT_TRUE(hello.started());
  EXPECT_EQ(hello.pid(), attempt.process().pid());
  EXPECT_TRUE(daemon.messages().front().has_hello());
  EXPECT_GT(daemon.AwaitStep(last_step + 1).step(), last_step);
  daemon.Stop();
  EXPECT_EQ(daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

TEST_F(TrainerAttemptFaults, ListensToTheNewestDaemon) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon older(attempt, keys_);
  older.Start();
  older.AwaitStep(1);
  AttemptDaemon newer(attempt, keys_);
  EXPECT_TRUE(newer.Await(IsHello).hello().started());
  newer.Stop();
  EXPECT_EQ(newer.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

TEST_F(TrainerAttemptFaults, StopsWithACheckpointWhenNoDaemonComesBack) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {.grace_seconds = 1});
  {
    AttemptDaemon lost(attempt, keys_);
    lost.Start();
    lost.AwaitStep(2);
  }
  EXPECT_EQ(attempt.process().Wait().exit_code, kStopped);
  const v1::TrainerEnd end = attempt.EndFile();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_TRUE(end.result().stopped());
  EXPECT_TRUE(std::filesystem::exists(end.result().checkpoint() + "/manifest.json"));
}

TEST_F(TrainerAttemptFaults, GivesUpWhenNoDaemonEverComes) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {.grace_seconds = 0.2});
  EXPECT_EQ(attempt.process().Wait().exit_code, 1);
  EXPECT_EQ(attempt.EndFile().cause(), v1::ATTEMPT_CAUSE_START_FAILED);
}

TEST_F(TrainerAttemptFaults, TellsItsEndAgainUntilItIsTaken) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {});
  {
    AttemptDaemon lost(attempt, keys_, Manners::kSilent);
    lost.Start();
    lost.AwaitEnd();
  }
  AttemptDaemon daemon(attempt, keys_);
  EXPECT_EQ(daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(attempt.process().Wait().exit_code, 0);
}

TEST_F(TrainerAttemptFaults, AsksTheNextDaemonWhatTheLastOneDidNotAnswer) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  {
    AttemptDaemon lost(first, keys_, Manners::kSilent);
    lost.Start();
    lost.Await(IsKeySet);
  }
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  second_daemon.Start();
  const v1::TrainerEnd end = first_daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_COMPLETED) << end.message();
  EXPECT_EQ(second_daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_COMPLETED);
}

TEST_F(TrainerAttemptFaults, AStopEndsTheWaitForOtherRanks) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  AttemptUnderTest attempt(folder_.path(), {.rank = 0});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.Await([](const v1::FromTrainer& message) { return message.has_key_wait(); });
  daemon.Stop();
  EXPECT_EQ(daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(attempt.process().Wait().exit_code, kStopped);
}

TEST_F(TrainerAttemptFaults, TellsAnErrorOfTheJobsFiles) {
  folder_.WriteJob({.data = "{path: absent}"});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_USER_ERROR);
  EXPECT_THAT(end.message(), HasSubstr("absent.bin: cannot be read"));
  EXPECT_TRUE(daemon.messages().front().has_hello());
  EXPECT_EQ(attempt.process().Wait().exit_code, 2);
  EXPECT_EQ(attempt.EndFile().cause(), v1::ATTEMPT_CAUSE_USER_ERROR);
}

TEST_F(TrainerAttemptFaults, B03RefusesAGpuThatThisBuildCannotUse) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {.device_kind = v1::Device::KIND_CUDA});
  AttemptDaemon daemon(attempt, keys_);
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_USER_ERROR);
  EXPECT_THAT(end.message(), AllOf(HasSubstr("device cuda"), HasSubstr("--device cpu")));
}

TEST_F(TrainerAttemptFaults, RefusesAFolderWithoutATask) {
  const Outcome outcome = folder_.Run({"attempt", folder_.path().string()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("task.pb"));
}

TEST_F(TrainerAttemptFaults, TellsWhatFillsABudgetThatIsTooSmall) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {.budget_bytes = 100'000});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_OOM);
  EXPECT_THAT(end.message(), AllOf(HasSubstr("100000"), HasSubstr("weights")));
  EXPECT_EQ(attempt.process().Wait().exit_code, 1);
}

TEST_F(TrainerAttemptFaults, P05ARankWithoutMemoryEndsItsPeerToo) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1, .budget_bytes = 100'000});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  EXPECT_EQ(second_daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_OOM);
  EXPECT_EQ(first_daemon.AwaitEnd().cause(), v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED);
}

TEST_F(TrainerAttemptFaults, EndsSoonAfterAPeerIsKilled) {
  folder_.WriteJob(
      {.mesh = "{data: 2}", .steps = kEndless, .more = "timeouts: {collective_seconds: 5}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  first_daemon.AwaitStep(2);
  const Clock::time_point killed = Clock::now();
  ::kill(second.process().pid(), SIGKILL);
  const v1::TrainerEnd end = first_daemon.AwaitEnd();
  EXPECT_LT(Clock::now() - killed, std::chrono::seconds(10));
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED);
  EXPECT_THAT(end.message(), HasSubstr("rank 1"));
  EXPECT_EQ(first.process().Wait().exit_code, 1);
}

TEST_F(TrainerAttemptFaults, P05EndsWhenAPeerStandsStill) {
  folder_.WriteJob(
      {.mesh = "{data: 2}", .steps = kEndless, .more = "timeouts: {collective_seconds: 2}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  first_daemon.AwaitStep(2);
  ::kill(second.process().pid(), SIGSTOP);
  const v1::TrainerEnd end = first_daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED);
  EXPECT_THAT(end.message(), HasSubstr("rank 1"));
}

}  // namespace
}  // namespace agoq
