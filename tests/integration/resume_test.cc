// Stop and resume: the rest is the unbroken run, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/local_training.h"
#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() { WriteSyntheticText(folder_ / "text", 3000, 1); }

  TrainOptions Options(int num_ranks, const std::string& checkpoints) {
    TrainOptions options = SmallTraining(num_ranks);
    options.data_prefix = folder_ / "text";
    options.steps = 12;  // the data has 125 samples: epochs end inside of the run
    options.micro_batch_size = 8;
    options.micro_batches = 2;
    options.plan = UniformPlan(PaperLayer(), options.model.num_layers, num_ranks);
    if (!checkpoints.empty()) options.checkpoint.directory = folder_ / checkpoints;
    return options;
  }

  TemporaryFolder folder_;
};

// Within the warm-up too: the schedule and Adam go on at their count.
TEST_F(ResumeTest, G13AnyStepOfOneRank) {
  const std::vector<double> unbroken = RunTraining(Options(1, ""))[0].losses;
  for (int stop = 1; stop < 12; ++stop) {
    const TrainOptions options = Options(1, "stop-" + std::to_string(stop));
    const TrainReport first = RunTraining(options, {.stop_after_step = stop})[0];
    ASSERT_EQ(first.steps, stop);
    EXPECT_TRUE(first.stopped);
    const TrainReport rest = RunTraining(options)[0];
    EXPECT_EQ(rest.first_step, stop);
    EXPECT_EQ(rest.losses, std::vector<double>(unbroken.begin() + stop, unbroken.end()));
  }
}

TEST_F(ResumeTest, G13After1000Updates) {
  const auto options = [this](const std::string& checkpoints) {
    TrainOptions all = Options(1, checkpoints);
    all.steps = 1004;
    all.micro_batch_size = 1;
    all.micro_batches = 4;
    return all;
  };
  const std::vector<double> unbroken = RunTraining(options(""))[0].losses;
  RunTraining(options("long"), {.stop_after_step = 1000});
  EXPECT_EQ(RunTraining(options("long"))[0].losses,
            std::vector<double>(unbroken.begin() + 1000, unbroken.end()));
}

TEST_F(ResumeTest, TwoRanksFromACheckpointAtAnInterval) {
  const std::vector<double> unbroken = RunTraining(Options(2, ""))[0].losses;
  TrainOptions options = Options(2, "interval");
  options.checkpoint.interval = 4;
  options.checkpoint.keep = 1;
  RunTraining(options, {.stop_after_step = 7});
  const TrainReport rest = RunTraining(options)[0];
  EXPECT_EQ(rest.first_step, 7);
  EXPECT_EQ(rest.losses, std::vector<double>(unbroken.begin() + 7, unbroken.end()));
}

TEST_F(ResumeTest, BFloat16KeepsItsMasters) {
  TrainOptions whole = Options(1, "");
  whole.compute = ComputeType::kBFloat16;
  const std::vector<double> unbroken = RunTraining(whole)[0].losses;
  TrainOptions options = Options(1, "bf16");
  options.compute = ComputeType::kBFloat16;
  RunTraining(options, {.stop_after_step = 5});
  EXPECT_EQ(RunTraining(options)[0].losses,
            std::vector<double>(unbroken.begin() + 5, unbroken.end()));
}

TEST_F(ResumeTest, AFinishedTrainingTakesNoStep) {
  const TrainOptions options = Options(1, "done");
  RunTraining(options);
  const TrainReport again = RunTraining(options)[0];
  EXPECT_EQ(again.first_step, 12);
  EXPECT_TRUE(again.losses.empty());
}

TEST_F(ResumeTest, RefusesTheCheckpointOfAnotherModel) {
  RunTraining(Options(1, "other"), {.stop_after_step = 2});
  TrainOptions options = Options(1, "other");
  options.model.ffn_size = 104;
  try {
    RunTraining(options);
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("gate_proj"));
    EXPECT_THAT(error.what(), HasSubstr("[100, 48]"));
    EXPECT_THAT(error.what(), HasSubstr("[104, 48]"));
    EXPECT_THAT(error.what(), HasSubstr("another checkpoint folder"));
  }
}

TEST_F(ResumeTest, RefusesAnotherSeed) {
  RunTraining(Options(1, "seed"), {.stop_after_step = 2});
  TrainOptions options = Options(1, "seed");
  options.seed = 9;
  EXPECT_THROW(RunTraining(options), std::invalid_argument);
}

}  // namespace
}  // namespace agoq
