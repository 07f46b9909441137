// A writer that is killed in the middle of a save, again and again: the newest checkpoint is always
// whole.
#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "worker/train/checkpoint.h"

namespace agoq {
namespace {

constexpr int kRounds = 50;
constexpr int kSound = 7;

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

// Runs `body` in a child process, so that this one never starts a thread of LibTorch's.
template <typename Body>
pid_t Fork(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  at::set_num_threads(1);
  _exit(body());
}

TEST(CheckpointKillTest, TheNewestCheckpointIsAlwaysWhole) {
  TemporaryFolder folder;
  const std::string directory = folder / "checkpoints";
  std::mt19937 random(7);
  for (int round = 0; round < kRounds; ++round) {
    const pid_t writer = Fork([&] {
      for (std::int64_t step = NewestStep(directory) + 1;; ++step) {
        WriteCheckpoint({.directory = directory, .keep = 2}, MakeCheckpoint(step));
      }
      return 0;
    });
    // The moment is the test's subject: it must fall anywhere in a save.
    std::this_thread::sleep_for(std::chrono::microseconds(20000 + random() % 60000));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const pid_t reader = Fork([&] {
      const std::int64_t step = NewestStep(directory);
      return step > 0 || (step == 0 && round == 0) ? kSound : 1;
    });
    int status = 0;
    waitpid(reader, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kSound) << "round " << round;
  }
}

}  // namespace
}  // namespace agoq
