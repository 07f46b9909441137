// agoq-trainer under a worker daemon, whose part the test plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/attempt_daemon.h"

namespace agoq {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

constexpr int kStopped = 143;
// Longer than any test waits.
const char* const kEndless = "{max_seconds: 1000, sequence_length: 16, micro_batch_size: 2}";

std::vector<std::string> SitesOf(const v1::RankResult& result) {
  std::vector<std::string> sites;
  for (const v1::SiteError& error : result.errors()) sites.push_back(error.site());
  return sites;
}

std::int64_t BytesOf(const google::protobuf::RepeatedPtrField<v1::LabelBytes>& labels,
                     const std::string& name) {
  for (const v1::LabelBytes& label : labels) {
    if (label.label() == name) return label.bytes();
  }
  return 0;
}

bool IsNote(const v1::FromTrainer& message) { return message.has_note(); }

class TrainerAttempt : public ::testing::Test {
 protected:
  void SetUp() override { folder_.Tokenize(); }

  // A run of work/job.yaml without disturbance.
  v1::TrainerEnd RunToTheEnd(const AttemptOptions& options = {}) {
    AttemptUnderTest attempt(folder_.path(), options);
    AttemptDaemon daemon(attempt, keys_);
    daemon.Start();
    v1::TrainerEnd end = daemon.AwaitEnd();
    attempt.process().Wait();
    return end;
  }

  TrainerFolder folder_;
  KeyTable keys_;
};

TEST_F(TrainerAttempt, SaysHelloAndWaitsForTheStart) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {.generation = 4});
  AttemptDaemon daemon(attempt, keys_);
  const v1::TrainerHello hello =
      daemon.Await([](const v1::FromTrainer& message) { return message.has_hello(); }).hello();
  EXPECT_EQ(hello.id().job_id(), "job");
  EXPECT_EQ(hello.id().generation(), 4);
  EXPECT_EQ(hello.pid(), attempt.process().pid());
  EXPECT_FALSE(hello.started());
  EXPECT_EQ(std::filesystem::status(attempt.folder() / "trainer.sock").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(TrainerAttempt, TellsEachStepOfATraining) {
  folder_.WriteJob({.plan = "{mode: fixed, table: paper, error_sample_interval: 3}"});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitEnd();
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> with_peak;
  std::vector<std::int64_t> with_errors;
  std::vector<double> losses;
  for (const v1::FromTrainer& message : daemon.messages()) {
    if (!message.has_step()) continue;
    const v1::TrainerStep& step = message.step();
    steps.push_back(step.step());
    losses.push_back(step.loss());
    if (BytesOf(step.peak(), "weights") > 0) with_peak.push_back(step.step());
    if (!step.errors().empty()) with_errors.push_back(step.step());
  }
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(with_peak, ElementsAre(1, 4));
  EXPECT_THAT(with_errors, ElementsAre(1, 4));
  EXPECT_THAT(losses, Each(Gt(1)));
  EXPECT_EQ(daemon.AwaitStep(6).done_ratio(), 1);
}

TEST_F(TrainerAttempt, ReportsItsResult) {
  folder_.WriteJob({.plan = "{mode: fixed, table: paper, error_sample_interval: 3}"});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(end.result().steps(), 6);
  EXPECT_EQ(end.result().final_loss(), daemon.AwaitStep(6).loss());
  EXPECT_EQ(end.result().validation_tokens(), 399);
  EXPECT_GT(end.result().validation_loss(), 1);
  EXPECT_FALSE(end.result().stopped());
  EXPECT_THAT(SitesOf(end.result()), ElementsAre("x1", "x2", "gate", "up"));
  for (const char* label : {"weights", "gradients", "optimizer", "x1", "up", "workspace"}) {
    EXPECT_GT(BytesOf(end.result().peak(), label), 0) << label;
    EXPECT_GT(BytesOf(end.result().predicted(), label), 0) << label;
  }
  EXPECT_EQ(attempt.process().Wait().exit_code, 0);
  EXPECT_EQ(attempt.EndFile().SerializeAsString(), end.SerializeAsString());
}

TEST_F(TrainerAttempt, TellsACheckpointAndWhereItIs) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  const v1::TrainerCheckpoint checkpoint = daemon.AwaitCheckpoint();
  EXPECT_EQ(checkpoint.step(), 6);
  EXPECT_GT(checkpoint.seconds(), 0);
  EXPECT_EQ(checkpoint.path(), end.result().checkpoint());
  EXPECT_TRUE(std::filesystem::exists(checkpoint.path() + "/manifest.json"));
}

TEST_F(TrainerAttempt, KeepsItsProgressPageUpToDate) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {.generation = 2});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  const std::int64_t step = daemon.AwaitStep(3).step();
  const std::optional<RankPosition> training = attempt.Position();
  ASSERT_TRUE(training.has_value());
  EXPECT_EQ(training->generation, 2);
  EXPECT_EQ(training->phase, ProgressPhase::kTraining);
  EXPECT_GE(training->step, step);
  EXPECT_GT(training->collective_sequence, 0);
  EXPECT_GT(training->allocated_bytes, 0);
  daemon.Stop();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(attempt.Position()->phase, ProgressPhase::kEnded);
  EXPECT_EQ(attempt.Position()->step, end.result().steps());
}

TEST_F(TrainerAttempt, StopsWithACheckpointWhenTheDaemonAsks) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitStep(2);
  daemon.Stop();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_TRUE(end.result().stopped());
  EXPECT_EQ(daemon.AwaitCheckpoint().step(), end.result().steps());
  const Outcome outcome = attempt.process().Wait();
  EXPECT_EQ(outcome.exit_code, kStopped);
  EXPECT_THAT(outcome.err, HasSubstr("the test wants it"));
}

TEST_F(TrainerAttempt, StopsWithACheckpointOnTermination) {
  folder_.WriteJob({.steps = kEndless});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Start();
  daemon.AwaitStep(2);
  ::kill(attempt.process().pid(), SIGTERM);
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(daemon.AwaitCheckpoint().step(), end.result().steps());
  EXPECT_EQ(attempt.process().Wait().exit_code, kStopped);
}

TEST_F(TrainerAttempt, StopsBeforeTheStart) {
  folder_.WriteJob({});
  AttemptUnderTest attempt(folder_.path(), {});
  AttemptDaemon daemon(attempt, keys_);
  daemon.Stop();
  const v1::TrainerEnd end = daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(end.result().steps(), 0);
  EXPECT_EQ(attempt.process().Wait().exit_code, kStopped);
}

TEST_F(TrainerAttempt, AResumedAttemptEndsWithTheLossOfAnUnbrokenOne) {
  const JobText job = {.steps = "{total: 300, sequence_length: 16, micro_batch_size: 2}",
                       .checkpoint = "{uri: unbroken}"};
  folder_.WriteJob(job);
  const v1::TrainerEnd unbroken = RunToTheEnd();
  JobText broken = job;
  broken.checkpoint = "{uri: saves, interval: 10}";
  folder_.WriteJob(broken);
  {
    AttemptUnderTest first(folder_.path(), {.generation = 2});
    AttemptDaemon daemon(first, keys_);
    daemon.Start();
    daemon.AwaitCheckpoint();
    ::kill(first.process().pid(), SIGKILL);
    EXPECT_EQ(first.process().Wait().exit_code, -SIGKILL);
  }
  AttemptUnderTest second(folder_.path(), {.generation = 3});
  AttemptDaemon daemon(second, keys_);
  daemon.Start();
  EXPECT_THAT(daemon.Await(IsNote).note().text(), HasSubstr("resumed from"));
  EXPECT_GT(daemon.AwaitStep(1).step(), 10);
  const v1::TrainerEnd resumed = daemon.AwaitEnd();
  EXPECT_EQ(resumed.result().steps(), 300);
  EXPECT_EQ(resumed.result().final_loss(), unbroken.result().final_loss());
  EXPECT_EQ(resumed.result().validation_loss(), unbroken.result().validation_loss());
}

TEST_F(TrainerAttempt, TwoRanksMeetThroughTheirDaemons) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  const v1::TrainerEnd first_end = first_daemon.AwaitEnd();
  const v1::TrainerEnd second_end = second_daemon.AwaitEnd();
  EXPECT_EQ(first_end.cause(), v1::ATTEMPT_CAUSE_COMPLETED) << first_end.message();
  EXPECT_EQ(second_end.cause(), v1::ATTEMPT_CAUSE_COMPLETED) << second_end.message();
  EXPECT_EQ(first_end.result().final_loss(), second_end.result().final_loss());
  EXPECT_EQ(second_end.result().rank(), 1);
}

TEST_F(TrainerAttempt, AStopOfOneRankStopsBothAfterTheSameStep) {
  folder_.WriteJob({.mesh = "{data: 2}", .steps = kEndless});
  AttemptUnderTest first(folder_.path(), {.rank = 0});
  AttemptUnderTest second(folder_.path(), {.rank = 1});
  AttemptDaemon first_daemon(first, keys_);
  AttemptDaemon second_daemon(second, keys_);
  first_daemon.Start();
  second_daemon.Start();
  second_daemon.AwaitStep(2);
  second_daemon.Stop();
  const v1::TrainerEnd end = first_daemon.AwaitEnd();
  EXPECT_EQ(end.cause(), v1::ATTEMPT_CAUSE_DRAINED) << end.message();
  EXPECT_EQ(second_daemon.AwaitEnd().result().steps(), end.result().steps());
  EXPECT_EQ(first_daemon.AwaitCheckpoint().step(), end.result().steps());
}

}  // namespace
}  // namespace agoq
