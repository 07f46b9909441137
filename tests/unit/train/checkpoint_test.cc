#include "worker/train/checkpoint.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/support/temporary_folder.h"
#include "worker/train/checkpoint_manifest.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Checkpoint MakeCheckpoint(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.shards = {
      {"model.safetensors", {{"weight", at::full({100, 10}, double(step), at::kFloat)}}},
      {"optimizer.safetensors", {{"weight.exp_avg", at::full({10}, 0.5, at::kDouble)}}}};
  checkpoint.counters = {.step = step, .tokens = 7, .skipped_steps = 1, .elapsed_seconds = 2.5};
  checkpoint.data_position = {.seed = 18446744073709551615ULL, .next_sample = 99};
  checkpoint.mesh = {.data = 2};
  checkpoint.generation = 3;
  checkpoint.config_json = R"({"hidden_size":10})";
  checkpoint.plan_json = R"({"layers":["full"]})";
  checkpoint.schedule_json = R"({"steps":100})";
  return checkpoint;
}

class CheckpointTest : public testing::Test {
 protected:
  CheckpointStore store(std::int64_t keep = 0) const { return {folder_ / "checkpoints", keep}; }

  TemporaryFolder folder_;
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  const std::string path = WriteCheckpoint(store(), MakeCheckpoint(42));
  EXPECT_EQ(path, folder_ / "checkpoints/step-00000042");
  const Checkpoint read = ReadCheckpoint(path);
  EXPECT_EQ(read.counters.step, 42);
  EXPECT_EQ(read.counters.tokens, 7);
  EXPECT_EQ(read.counters.skipped_steps, 1);
  EXPECT_EQ(read.counters.elapsed_seconds, 2.5);
  EXPECT_EQ(read.data_position.seed, 18446744073709551615ULL);
  EXPECT_EQ(read.data_position.next_sample, 99);
  EXPECT_EQ(read.mesh, (CheckpointMesh{.data = 2}));
  EXPECT_EQ(read.generation, 3);
  EXPECT_EQ(read.config_json, R"({"hidden_size":10})");
  EXPECT_EQ(read.plan_json, R"({"layers":["full"]})");
  EXPECT_EQ(read.schedule_json, R"({"steps":100})");
  ASSERT_EQ(read.shards.size(), 2u);
  EXPECT_TRUE(read.shards[0].tensors[0].tensor.equal(at::full({100, 10}, 42.0, at::kFloat)));
  EXPECT_EQ(read.shards[1].file, "optimizer.safetensors");
  EXPECT_EQ(read.shards[1].tensors[0].name, "weight.exp_avg");
  EXPECT_TRUE(read.shards[1].tensors[0].tensor.equal(at::full({10}, 0.5, at::kDouble)));
  EXPECT_EQ(FindLatestCheckpoint(folder_ / "checkpoints").path, path);
  EXPECT_EQ(FindLatestCheckpoint(path).path, path);
}

TEST_F(CheckpointTest, KeepsTheNewest) {
  for (const std::int64_t step : {1, 2, 3, 4, 5}) WriteCheckpoint(store(2), MakeCheckpoint(step));
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints/step-00000003"));
  EXPECT_TRUE(fs::exists(folder_ / "checkpoints/step-00000004"));
  EXPECT_TRUE(fs::exists(folder_ / "checkpoints/step-00000005"));
}

TEST_F(CheckpointTest, TheSameStepIsReplaced) {
  WriteCheckpoint(store(), MakeCheckpoint(5));
  Checkpoint other = MakeCheckpoint(5);
  other.counters.tokens = 8;
  const std::string path = WriteCheckpoint(store(), other);
  EXPECT_EQ(ReadCheckpoint(path).counters.tokens, 8);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "checkpoints"), {}), 1);
}

TEST_F(CheckpointTest, ADamagedShardIsNamedWithTheRemedy) {
  const std::string path = WriteCheckpoint(store(), MakeCheckpoint(5));
  std::fstream shard(path + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
  shard.seekp(-10, std::ios::end);
  shard.put('\x11');
  shard.close();
  try {
    ReadCheckpoint(path);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path + "/model.safetensors"));
    EXPECT_THAT(error.what(), HasSubstr("SHA-256"));
    EXPECT_THAT(error.what(), HasSubstr("remove this checkpoint's folder"));
  }
}

TEST_F(CheckpointTest, IncompleteOnesArePassedOverWithTheReason) {
  const std::string good = WriteCheckpoint(store(), MakeCheckpoint(1));
  const std::string cut = WriteCheckpoint(store(), MakeCheckpoint(2));
  const std::string bare = WriteCheckpoint(store(), MakeCheckpoint(3));
  const std::string garbled = WriteCheckpoint(store(), MakeCheckpoint(4));
  fs::resize_file(cut + "/model.safetensors", 100);
  fs::remove(bare + "/manifest.json");
  std::ofstream(garbled + "/manifest.json") << "{";
  const LatestCheckpoint latest = FindLatestCheckpoint(folder_ / "checkpoints");
  EXPECT_EQ(latest.path, good);
  ASSERT_EQ(latest.skipped.size(), 3u);
  EXPECT_THAT(latest.skipped[0], HasSubstr(garbled));
  EXPECT_THAT(latest.skipped[1], HasSubstr(bare));
  EXPECT_THAT(latest.skipped[2], HasSubstr("100 bytes"));
}

TEST_F(CheckpointTest, ANegativeCountInTheManifestIsNamed) {
  const std::string path = WriteCheckpoint(store(), MakeCheckpoint(5));
  std::ifstream in(path + "/manifest.json");
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string position = "\"next_sample\": 99";
  text.replace(text.find(position), position.size(), "\"next_sample\": -99");
  std::ofstream(path + "/manifest.json") << text;
  try {
    ReadCheckpoint(path);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("next_sample is -99"));
  }
}

// Leaves what a bad disk may.
void Cut(const std::string& path) { fs::resize_file(path + "/model.safetensors", 100); }

TEST_F(CheckpointTest, TheOneJustWrittenStaysBehindADamagedNewerOne) {
  Cut(WriteCheckpoint(store(), MakeCheckpoint(50)));
  WriteCheckpoint(store(), MakeCheckpoint(40));
  const std::string written = WriteCheckpoint(store(1), MakeCheckpoint(45));
  EXPECT_EQ(FindLatestCheckpoint(folder_ / "checkpoints").path, written);
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints/step-00000040"));
}

TEST_F(CheckpointTest, ADamagedOneDoesNotCountAsKept) {
  const std::string good = WriteCheckpoint(store(), MakeCheckpoint(1));
  Cut(WriteCheckpoint(store(), MakeCheckpoint(2)));
  WriteCheckpoint(store(2), MakeCheckpoint(3));
  EXPECT_EQ(ReadCheckpoint(good).counters.step, 1);
}

TEST_F(CheckpointTest, AnyByteOfTheManifestMayBeWrong) {
  const std::string path = WriteCheckpoint(store(), MakeCheckpoint(5));
  std::ifstream in(path + "/manifest.json");
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const char byte : {'\0', '9', '-', '"', '}', '\xff'}) {
      std::string damaged = whole;
      damaged[place] = byte;
      try {
        DecodeManifest(damaged, path);
      } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path)) << place;
      }
    }
  }
}

TEST_F(CheckpointTest, AFolderThatCannotBeListedIsNotAnEmptyOne) {
  const std::string loop = folder_ / "loop";
  fs::create_symlink(loop, loop);
  try {
    FindLatestCheckpoint(loop);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(loop + ": cannot be listed"));
  }
}

TEST_F(CheckpointTest, AnAbsentFolderHasNone) {
  EXPECT_FALSE(FindLatestCheckpoint(folder_ / "nowhere").path.has_value());
}

TEST_F(CheckpointTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  try {
    WriteCheckpoint({.directory = folder_ / "file/checkpoints"}, MakeCheckpoint(1));
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder_ / "file/checkpoints"));
  }
}

TEST_F(CheckpointTest, AFullDiskLeavesTheOlderOneAndNothingHalfWritten) {
  const std::string first = WriteCheckpoint(store(), MakeCheckpoint(1));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {2000, 2000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      WriteCheckpoint(store(), MakeCheckpoint(2));
    } catch (const std::runtime_error& error) {
      _exit(std::string(error.what()).find("make room") != std::string::npos ? 7 : 8);
    }
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(FindLatestCheckpoint(folder_ / "checkpoints").path, first);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "checkpoints"), {}), 1);
  WriteCheckpoint(store(), MakeCheckpoint(2));
}

}  // namespace
}  // namespace agoq
