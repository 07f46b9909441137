#include "worker/train/train_state.h"

#include <ATen/ops/arange.h>
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

TrainOptions Options(bool tied_head, std::uint64_t seed) {
  TrainOptions options = SmallTraining(1);
  options.model.tied_head = tied_head;
  options.seed = seed;
  return options;
}

double LossOf(const TrainState& state) {
  const at::Tensor ids = at::arange(24, at::kLong);
  return state.stage.LossSum(
      {.ids_T = ids, .targets_T = ids, .positions_T = ids, .batch = 1, .sequence = 24});
}

TEST(TrainStateTest, M01ATiedHeadIsTheEmbeddingAfterACheckpoint) {
  TemporaryFolder folder;
  const TrainState saved(Options(true, 1));
  const Checkpoint checkpoint = TakeCheckpoint(saved, Options(true, 1), {});
  for (const NamedTensor& tensor : checkpoint.shards[0].tensors) {
    EXPECT_NE(tensor.name, "lm_head.weight");
  }
  const std::string path = WriteCheckpoint({.directory = folder / "checkpoints"}, checkpoint);
  TrainState restored(Options(true, 2));
  EXPECT_NE(LossOf(restored), LossOf(saved));
  RestoreCheckpoint(ReadCheckpoint(path), restored);
  const Parameters& parameters = restored.stage.parameters();
  EXPECT_TRUE(parameters.head_VD().is_same(parameters.embedding_VD()));
  EXPECT_EQ(LossOf(restored), LossOf(saved));
}

TEST(TrainStateTest, M01TheWeightsAloneKeepTheHeadTied) {
  const TrainState saved(Options(true, 1));
  TrainState restored(Options(true, 2));
  RestoreWeights(TakeCheckpoint(saved, Options(true, 1), {}), restored.stage.parameters());
  const Parameters& parameters = restored.stage.parameters();
  EXPECT_EQ(parameters.head_VD().const_data_ptr(), parameters.embedding_VD().const_data_ptr());
  EXPECT_EQ(LossOf(restored), LossOf(saved));
}

TEST(TrainStateTest, M01AnUntiedHeadDroppedFromItsOwnCheckpointIsNamed) {
  const TrainState saved(Options(false, 1));
  Checkpoint checkpoint = TakeCheckpoint(saved, Options(false, 1), {});
  const auto is_head = [](const NamedTensor& tensor) { return tensor.name == "lm_head.weight"; };
  ASSERT_EQ(std::erase_if(checkpoint.shards[0].tensors, is_head), 1u);
  TrainState untied(Options(false, 2));
  const double before = LossOf(untied);
  try {
    RestoreWeights(checkpoint, untied.stage.parameters());
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no tensor lm_head.weight"));
  }
  EXPECT_EQ(LossOf(untied), before);
}

TEST(TrainStateTest, M01AnUntiedHeadThatIsMissingIsNamed) {
  const TrainState tied(Options(true, 1));
  const Checkpoint checkpoint = TakeCheckpoint(tied, Options(true, 1), {});
  TrainState untied(Options(false, 2));
  const double before = LossOf(untied);
  try {
    RestoreCheckpoint(checkpoint, untied);
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("lm_head.weight"));
  }
  EXPECT_EQ(LossOf(untied), before);
}

}  // namespace
}  // namespace agoq
