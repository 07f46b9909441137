// A writer that is killed in the middle of a save, again and again: the newest checkpoint is always
// whole, and never older than before.
#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "worker/train/checkpoint.h"

namespace agoq {
namespace {

constexpr int kRounds = 50;

// Content that tells its step.
Checkpoint MakeCheckpoint(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.shards = {
      {"model.safetensors", {{"weight", at::full({1 << 18}, double(step), at::kFloat)}}}};
  checkpoint.counters.step = step;
  return checkpoint;
}

// The step of the newest checkpoint, read with its hashes; 0 if there is none, -1 if it is not
// sound.
std::int64_t NewestStep(const std::string& directory) {
  const LatestCheckpoint latest = FindLatestCheckpoint(directory);
  if (!latest.skipped.empty()) return -1;
  if (!latest.path.has_value()) return 0;
  const Checkpoint checkpoint = ReadCheckpoint(*latest.path);
  const auto step = static_cast<double>(checkpoint.counters.step);
  const at::Tensor& weight = checkpoint.shards[0].tensors[0].tensor;
  const bool is_sound = weight.min().item<double>() == step && weight.max().item<double>() == step;
  return is_sound ? checkpoint.counters.step : -1;
}

// Runs `body` in a child process, so that this one never starts a thread of LibTorch's. An
// exception ends the child.
template <typename Body>
pid_t Fork(Body body) noexcept {
  const pid_t child = fork();
  if (child != 0) return child;
  at::set_num_threads(1);
  _exit(body());
}

// A writer in a folder of its own, killed a random time after its start.
class CheckpointKillTest : public testing::Test {
 protected:
  // True if the kill fell into a save.
  template <typename Save>
  bool KillWriter(Save save) {
    const pid_t writer = Fork([&] {
      while (true) save();
      return 0;
    });
    // The moment is the test's subject: it must fall anywhere in a save.
    std::this_thread::sleep_for(std::chrono::microseconds(20000 + random_() % 60000));
    kill(writer, SIGKILL);
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer failed";
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().filename().string().starts_with(".tmp-")) return true;
    }
    return false;
  }

  // What NewestStep says, in a process of its own.
  std::int64_t NewestStepAfterTheKill() const {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t reader = Fork([&] {
      const std::int64_t step = NewestStep(directory_);
      return write(ends[1], &step, sizeof(step)) == sizeof(step) ? 0 : 1;
    });
    close(ends[1]);
    std::int64_t step = -1;
    if (read(ends[0], &step, sizeof(step)) != sizeof(step)) step = -1;
    close(ends[0]);
    waitpid(reader, nullptr, 0);
    return step;
  }

  TemporaryFolder folder_;
  const std::string directory_ = folder_ / "checkpoints";
  std::mt19937 random_{7};
};

TEST_F(CheckpointKillTest, TheNewestCheckpointIsAlwaysWhole) {
  std::filesystem::create_directory(directory_);
  std::int64_t newest = 0;
  int kills_in_a_save = 0;
  for (int round = 0; round < kRounds; ++round) {
    kills_in_a_save += KillWriter([&, step = newest]() mutable {
      WriteCheckpoint({.directory = directory_, .keep = 2}, MakeCheckpoint(++step));
    });
    const std::int64_t now = NewestStepAfterTheKill();
    ASSERT_GE(now, newest) << "round " << round;
    newest = now;
  }
  EXPECT_GT(newest, 0);
  EXPECT_GT(kills_in_a_save, 0);
}

TEST_F(CheckpointKillTest, ACheckpointBeingReplacedIsAlwaysWhole) {
  const pid_t first = Fork([&] {
    WriteCheckpoint({.directory = directory_}, MakeCheckpoint(3));
    return 0;
  });
  waitpid(first, nullptr, 0);
  int kills_in_a_save = 0;
  for (int round = 0; round < kRounds; ++round) {
    kills_in_a_save += KillWriter(
        [&] { WriteCheckpoint({.directory = directory_, .keep = 1}, MakeCheckpoint(3)); });
    ASSERT_EQ(NewestStepAfterTheKill(), 3) << "round " << round;
  }
  EXPECT_GT(kills_in_a_save, 0);
}

}  // namespace
}  // namespace agoq
