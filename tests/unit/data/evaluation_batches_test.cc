#include "worker/data/evaluation_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/written_dataset.h"
#include "worker/data/batch.h"
#include "worker/data/token_dataset.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Ids ValuesOf(const at::Tensor& tensor) {
  const std::int64_t* values = tensor.const_data_ptr<std::int64_t>();
  return {values, values + tensor.numel()};
}

class EvaluationBatchesTest : public ::testing::Test {
 protected:
  // `num_tokens` tokens, each its own position.
  const TokenDataset& Dataset(std::int64_t num_tokens) {
    const std::string prefix = folder_ / "corpus";
    WriteDataset(prefix, {Counted(num_tokens)});
    dataset_ = std::make_unique<TokenDataset>(prefix);
    return *dataset_;
  }

  TemporaryFolder folder_;
  std::unique_ptr<TokenDataset> dataset_;
};

// All targets that count, in order. Checks that each stands behind the token before it.
Ids TargetsOf(const EvaluationBatches& batches) {
  Ids all;
  for (std::int64_t index = 0; index < batches.num_batches(); ++index) {
    const Batch batch = batches.At(index);
    const Ids ids = ValuesOf(batch.ids_BT);
    const Ids targets = ValuesOf(batch.targets_BT);
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (targets[i] == kIgnoreIndex) continue;
      EXPECT_EQ(targets[i], ids[i] + 1);
      all.push_back(targets[i]);
    }
    EXPECT_EQ(batch.num_targets, static_cast<std::int64_t>(all.size() - before));
  }
  return all;
}

TEST_F(EvaluationBatchesTest, EachTokenButTheFirstIsATargetOnce) {
  for (std::int64_t num_tokens = 2; num_tokens < 40; ++num_tokens) {
    const TokenDataset& dataset = Dataset(num_tokens);
    const EvaluationBatches batches(dataset, {.batch_size = 3, .sequence_length = 4});
    Ids expected = Counted(num_tokens);
    expected.erase(expected.begin());
    EXPECT_EQ(TargetsOf(batches), expected) << num_tokens;
    EXPECT_EQ(batches.num_targets(), num_tokens - 1);
  }
}

TEST_F(EvaluationBatchesTest, TheLastBatchHasTheRowsThatAreLeft) {
  const TokenDataset& dataset = Dataset(4 * 4 + 1);
  const EvaluationBatches batches(dataset, {.batch_size = 3, .sequence_length = 4});
  ASSERT_EQ(batches.num_batches(), 2);
  EXPECT_THAT(batches.At(0).ids_BT.sizes(), ElementsAre(3, 4));
  EXPECT_THAT(batches.At(1).ids_BT.sizes(), ElementsAre(1, 4));
}

TEST_F(EvaluationBatchesTest, PadsTheLastWindow) {
  const TokenDataset& dataset = Dataset(7);
  const Batch batch = EvaluationBatches(dataset, {.batch_size = 2, .sequence_length = 4}).At(0);
  EXPECT_THAT(ValuesOf(batch.ids_BT), ElementsAre(0, 1, 2, 3, 4, 5, 6, 0));
  EXPECT_THAT(ValuesOf(batch.targets_BT),
              ElementsAre(1, 2, 3, 4, 5, 6, kIgnoreIndex, kIgnoreIndex));
  EXPECT_EQ(batch.num_targets, 6);
}

TEST_F(EvaluationBatchesTest, MakesNoWindowWithoutATarget) {
  const TokenDataset& dataset = Dataset(5);
  const EvaluationBatches batches(dataset, {.sequence_length = 4});
  EXPECT_EQ(batches.num_batches(), 1);
}

TEST_F(EvaluationBatchesTest, AcceptsDataShorterThanAWindow) {
  const TokenDataset& dataset = Dataset(2);
  const EvaluationBatches batches(dataset, {.batch_size = 8, .sequence_length = 4});
  EXPECT_EQ(batches.num_batches(), 1);
  EXPECT_EQ(batches.At(0).num_targets, 1);
}

TEST_F(EvaluationBatchesTest, RefusesASingleToken) {
  const TokenDataset& dataset = Dataset(1);
  EXPECT_THAT(ErrorOf<std::invalid_argument>(
                  [&] { EvaluationBatches batches(dataset, {.sequence_length = 4}); }),
              AllOf(HasSubstr("corpus"), HasSubstr("has 1 tokens"), HasSubstr("at least 2")));
}

TEST_F(EvaluationBatchesTest, RefusesCountsBelowOne) {
  const TokenDataset& dataset = Dataset(9);
  EXPECT_THROW(EvaluationBatches(dataset, {.batch_size = 0, .sequence_length = 4}),
               std::invalid_argument);
  EXPECT_THROW(EvaluationBatches(dataset, {.batch_size = 1, .sequence_length = 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace agoq
