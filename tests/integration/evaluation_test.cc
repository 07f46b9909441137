// Held-out loss counts tokens, however they are cut into batches and shared by ranks.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/local_training.h"
#include "tests/support/temporary_folder.h"
#include "worker/train/evaluate.h"
#include "worker/train/generate.h"

namespace agoq {
namespace {

class EvaluationTest : public testing::Test {
 protected:
  EvaluationTest() {
    WriteSyntheticText(folder_ / "text", 5000, 1);
    WriteSyntheticText(folder_ / "held-out", 1003, 2);  // the last window is short
  }

  TrainOptions Options(int num_ranks) {
    TrainOptions options = SmallTraining(num_ranks);
    options.data_prefix = folder_ / "text";
    options.validation_prefix = folder_ / "held-out";
    options.checkpoint.directory = folder_ / "checkpoints";
    options.steps = 3;
    return options;
  }

  TemporaryFolder folder_;
};

TEST_F(EvaluationTest, G01DoesNotDependOnBatchesOrRanks) {
  const TrainReport trained = RunTraining(Options(1))[0];
  ASSERT_TRUE(trained.validation.has_value());
  for (const std::int64_t batch_size : {1, 7, 100}) {
    const EvaluationReport report =
        EvaluateCheckpoint({.checkpoint = trained.checkpoint,
                            .model = Options(1).model,
                            .data_prefix = folder_ / "held-out",
                            .shape = {.sequence_length = 24, .batch_size = batch_size}});
    EXPECT_EQ(report.tokens, trained.validation->tokens);
    EXPECT_NEAR(report.loss, trained.validation->loss, 1e-6);
  }
  const TrainReport again = RunTraining(Options(3))[1];  // no step is left: evaluation alone
  EXPECT_EQ(again.first_step, 3);
  EXPECT_EQ(again.validation->tokens, trained.validation->tokens);
  EXPECT_NEAR(again.validation->loss, trained.validation->loss, 1e-6);
}

TEST_F(EvaluationTest, GreedyTextIsTheSameEachTime) {
  const TrainReport trained = RunTraining(Options(1))[0];
  const GenerateOptions options = {.checkpoint = trained.checkpoint,
                                   .model = Options(1).model,
                                   .prompt = "abc ",
                                   .num_tokens = 20,
                                   .temperature = 0};
  const std::string text = GenerateText(options);
  EXPECT_EQ(text.size(), 24u);
  EXPECT_EQ(text.substr(0, 4), "abc ");
  EXPECT_EQ(GenerateText(options), text);
}

}  // namespace
}  // namespace agoq
