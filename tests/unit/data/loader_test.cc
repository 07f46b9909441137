#include "worker/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

template <typename T>
std::vector<std::int64_t> ValuesOf(const at::Tensor& tensor) {
  const T* values = tensor.const_data_ptr<T>();
  return {values, values + tensor.numel()};
}

Ids IdsOf(const Batch& batch) { return ValuesOf<std::int64_t>(batch.ids_BT); }

// Ids of the next steps, one entry a micro-batch.
std::vector<Ids> NextMicroBatches(Loader& loader, int num_steps) {
  std::vector<Ids> ids;
  for (int step = 0; step < num_steps; ++step) {
    for (const Batch& batch : loader.NextStep()) ids.push_back(IdsOf(batch));
  }
  return ids;
}

// 49 tokens, each its own position: 12 samples of 4 tokens.
class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() { Write({Counted(49)}); }

  void Write(const std::vector<Ids>& documents) {
    const std::string prefix = folder_ / "corpus";
    WriteDataset(prefix, documents);
    dataset_ = std::make_unique<TokenDataset>(prefix);
  }

  std::string ErrorOfLoading(const LoaderOptions& options) {
    return ErrorOf<std::invalid_argument>([&] { Loader loader(*dataset_, options); });
  }

  TemporaryFolder folder_;
  std::unique_ptr<TokenDataset> dataset_;
};

TEST_F(LoaderTest, GivesTheTensorsOfEachMicroBatch) {
  Loader loader(*dataset_, {.micro_batch_size = 3, .micro_batches = 2, .sequence_length = 4});
  const std::vector<Batch> batches = loader.NextStep();
  ASSERT_EQ(batches.size(), 2u);
  for (const Batch& batch : batches) {
    EXPECT_THAT(batch.ids_BT.sizes(), ElementsAre(3, 4));
    EXPECT_EQ(batch.num_targets, 12);
    EXPECT_EQ(ValuesOf<std::int64_t>(batch.positions_BT),
              (Ids{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  }
}

TEST_F(LoaderTest, RowsAreWholeSamplesAndTargetsTheNextTokens) {
  Loader loader(*dataset_, {.micro_batch_size = 12, .sequence_length = 4});
  const Batch batch = loader.NextStep().front();
  const Ids ids = IdsOf(batch);
  const Ids targets = ValuesOf<std::int64_t>(batch.targets_BT);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i], ids[i - i % 4] + static_cast<std::int64_t>(i % 4));
    EXPECT_EQ(ids[i] % 4, static_cast<std::int64_t>(i % 4));
    EXPECT_EQ(targets[i], ids[i] + 1);
  }
}

TEST_F(LoaderTest, MarksTokensThatBeginADocument) {
  Write({{10, 11, 12}, {}, {13}, {14}});
  Loader loader(*dataset_, {.sequence_length = 4});
  const Batch batch = loader.NextStep().front();
  EXPECT_THAT(IdsOf(batch), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(ValuesOf<std::int64_t>(batch.targets_BT), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(ValuesOf<bool>(batch.document_starts_BT), ElementsAre(1, 0, 0, 1));
}

TEST_F(LoaderTest, TwoRanksSeeTheMicroBatchesOfOne) {
  Loader alone(*dataset_,
               {.seed = 7, .micro_batch_size = 2, .micro_batches = 2, .sequence_length = 4});
  const LoaderOptions shared = {
      .seed = 7, .rank = 0, .world = 2, .micro_batch_size = 2, .sequence_length = 4};
  LoaderOptions second = shared;
  second.rank = 1;
  Loader rank0(*dataset_, shared);
  Loader rank1(*dataset_, second);
  for (int step = 0; step < 7; ++step) {
    const std::vector<Batch> both = alone.NextStep();
    EXPECT_EQ(IdsOf(both[0]), IdsOf(rank0.NextStep().front())) << step;
    EXPECT_EQ(IdsOf(both[1]), IdsOf(rank1.NextStep().front())) << step;
  }
}

TEST_F(LoaderTest, AnEpochServesEachSampleOnce) {
  Loader loader(*dataset_, {.micro_batch_size = 2, .micro_batches = 2, .sequence_length = 4});
  Ids seen;
  for (const Ids& ids : NextMicroBatches(loader, 3))
    seen.insert(seen.end(), ids.begin(), ids.end());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, Counted(48));
}

TEST_F(LoaderTest, TheSeedChangesTheOrder) {
  Loader one(*dataset_, {.seed = 1, .sequence_length = 4});
  Loader other(*dataset_, {.seed = 2, .sequence_length = 4});
  EXPECT_NE(NextMicroBatches(one, 12), NextMicroBatches(other, 12));
}

// Fault case D-08: 12 samples, so 20 steps cross the end of an epoch.
TEST_F(LoaderTest, D08ResumesWhereItStopped) {
  LoaderOptions options = {.seed = 7, .sequence_length = 4};
  Loader unbroken(*dataset_, options);
  NextMicroBatches(unbroken, 7);
  options.start_step = 7;
  Loader resumed(*dataset_, options);
  EXPECT_EQ(NextMicroBatches(resumed, 13), NextMicroBatches(unbroken, 13));
}

TEST_F(LoaderTest, CountsStepsAndSamplesOfAllRanks) {
  Loader loader(*dataset_, {.rank = 1,
                            .world = 2,
                            .micro_batch_size = 3,
                            .micro_batches = 2,
                            .sequence_length = 4,
                            .start_step = 5});
  loader.NextStep();
  EXPECT_EQ(loader.next_step(), 6);
  EXPECT_EQ(loader.next_sample(), 72);
  EXPECT_EQ(loader.samples_per_epoch(), 12);
}

TEST_F(LoaderTest, BatchesThatTheCallerKeepsStayAsTheyWere) {
  Loader loader(*dataset_, {.sequence_length = 4});
  const std::vector<Batch> kept = loader.NextStep();
  const Ids before = IdsOf(kept.front());
  NextMicroBatches(loader, 20);
  EXPECT_EQ(IdsOf(kept.front()), before);
}

TEST_F(LoaderTest, EndsWithoutHavingServedAStep) {
  for (int i = 0; i < 100; ++i) Loader loader(*dataset_, {.sequence_length = 4});
}

TEST_F(LoaderTest, RefusesASequenceLongerThanTheData) {
  EXPECT_THAT(ErrorOfLoading({.sequence_length = 49}),
              AllOf(HasSubstr("sequence length 49"), HasSubstr("corpus"), HasSubstr("49 tokens"),
                    HasSubstr("shorter sequences")));
}

TEST_F(LoaderTest, AcceptsASequenceOfAllButOneToken) {
  Loader loader(*dataset_, {.sequence_length = 48});
  EXPECT_EQ(IdsOf(loader.NextStep().front()), Counted(48));
}

TEST_F(LoaderTest, RefusesFewerSamplesThanAGlobalBatch) {
  EXPECT_THAT(ErrorOfLoading({.world = 13, .sequence_length = 4}),
              AllOf(HasSubstr("12 samples"), HasSubstr("13")));
}

TEST_F(LoaderTest, RefusesCountsBelowOne) {
  EXPECT_THAT(ErrorOfLoading({.world = 0, .sequence_length = 4}), HasSubstr("ranks 0"));
  EXPECT_THAT(ErrorOfLoading({.micro_batch_size = 0, .sequence_length = 4}),
              HasSubstr("micro-batch size 0"));
  EXPECT_THAT(ErrorOfLoading({.micro_batches = 0, .sequence_length = 4}),
              HasSubstr("micro-batches 0"));
  EXPECT_THAT(ErrorOfLoading({.sequence_length = 0}), HasSubstr("sequence length 0"));
}

TEST_F(LoaderTest, RefusesARankThatIsNotThere) {
  EXPECT_THAT(ErrorOfLoading({.rank = 2, .world = 2, .sequence_length = 4}), HasSubstr("rank 2"));
  EXPECT_THAT(ErrorOfLoading({.rank = -1, .sequence_length = 4}), HasSubstr("rank -1"));
}

}  // namespace
}  // namespace agoq
