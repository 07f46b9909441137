// How a run stops before its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/integration/trainer_process.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// Longer than any test waits.
const char* const kEndless = "{max_seconds: 1000, sequence_length: 16, micro_batch_size: 2}";

class TrainerSignals : public ::testing::Test {
 protected:
  void SetUp() override { folder_.Tokenize(); }

  bool HasCheckpoint() const {
    const std::filesystem::path saves = folder_.path() / "saves";
    if (!std::filesystem::is_directory(saves)) return false;
    for (const auto& entry : std::filesystem::directory_iterator(saves)) {
      if (entry.path().filename().string().rfind("step-", 0) == 0) return true;
    }
    return false;
  }

  TrainerFolder folder_;
};

TEST_F(TrainerSignals, InterruptSavesACheckpointAndExitsWith130) {
  folder_.WriteJob({.steps = kEndless});
  TrainerProcess trainer({"run", "job.yaml"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ::kill(trainer.pid(), SIGINT);
  const Outcome outcome = trainer.Wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("stopped after step"));
  EXPECT_TRUE(HasCheckpoint());
}

TEST_F(TrainerSignals, TerminationStopsAllLocalProcessesWithOneCheckpoint) {
  folder_.WriteJob({.mesh = "{data: 2}", .steps = kEndless});
  TrainerProcess trainer({"run", "job.yaml", "--local-processes", "2"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ::kill(trainer.pid(), SIGTERM);
  const Outcome outcome = trainer.Wait();
  EXPECT_EQ(outcome.exit_code, 143) << outcome.err;
  EXPECT_TRUE(HasCheckpoint());
}

TEST_F(TrainerSignals, ASignalToOneRankStopsTheOthersToo) {
  folder_.WriteJob({.mesh = "{data: 2}", .steps = kEndless});
  TrainerProcess trainer({"run", "job.yaml", "--local-processes", "2"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ASSERT_EQ(trainer.Children().size(), 2u);
  ::kill(trainer.Children()[1], SIGTERM);
  EXPECT_EQ(trainer.Wait().exit_code, 143);
  EXPECT_TRUE(HasCheckpoint());
}

TEST_F(TrainerSignals, ASecondSignalEndsTheRunAtOnce) {
  folder_.WriteJob({.steps = kEndless, .checkpoint = "{}"});
  TrainerProcess trainer({"run", "job.yaml"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ::kill(trainer.pid(), SIGTERM);
  ::kill(trainer.pid(), SIGINT);
  const int code = trainer.Wait().exit_code;
  EXPECT_TRUE(code == 143 || code == 130) << code;
}

TEST_F(TrainerSignals, ALostRankEndsTheRunWithinSeconds) {
  folder_.WriteJob({.mesh = "{data: 2}", .steps = kEndless});
  TrainerProcess trainer({"run", "job.yaml", "--local-processes", "2"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ASSERT_EQ(trainer.Children().size(), 2u);
  const Clock::time_point start = Clock::now();
  ::kill(trainer.Children()[1], SIGKILL);
  const Outcome outcome = trainer.Wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("rank 1 was ended by signal 9"));
}

TEST_F(TrainerSignals, RanksStopWhenTheirLauncherIsKilled) {
  folder_.WriteJob({.mesh = "{data: 2}", .steps = kEndless});
  TrainerProcess trainer({"run", "job.yaml", "--local-processes", "2"}, folder_.path());
  ASSERT_TRUE(trainer.WaitForError("step 1"));
  ::kill(trainer.pid(), SIGKILL);
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
  while (!HasCheckpoint() && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(HasCheckpoint());
}

}  // namespace
}  // namespace agoq
