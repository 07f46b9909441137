#include "worker/train/step_verdict.h"

#include <gtest/gtest.h>

#include <vector>

namespace agoq {
namespace {

TEST(StepVerdictTest, G01LossIsTheSumOverTheTargetsOfAllRanks) {
  const std::vector<RankVerdict> ranks = {{.loss_sum = 1 + 2 + 3}, {.loss_sum = 10}};
  EXPECT_DOUBLE_EQ(Agree(ranks).loss_sum / 4, 4.0);
}

TEST(StepVerdictTest, OneRanksRequestStopsAll) {
  EXPECT_TRUE(Agree(std::vector<RankVerdict>{{}, {.stop = 1}, {}}).stop);
  EXPECT_FALSE(Agree(std::vector<RankVerdict>{{}, {}}).stop);
}

TEST(StepVerdictTest, NamesTheFirstRankWithAValueThatIsNotFinite) {
  const std::vector<RankVerdict> ranks = {
      {},
      {.non_finite = {.tensor_id = 7, .first_block = 3, .count = 2}},
      {.non_finite = {.tensor_id = 1, .first_block = 0, .count = 1}}};
  const StepVerdict verdict = Agree(ranks);
  EXPECT_EQ(verdict.non_finite_rank, 1);
  EXPECT_EQ(verdict.non_finite.tensor_id, 7);
  EXPECT_EQ(verdict.non_finite.first_block, 3);
}

TEST(StepVerdictTest, TimeIsRankZeros) {
  const std::vector<RankVerdict> ranks = {{.elapsed_seconds = 3}, {.elapsed_seconds = 5}};
  EXPECT_EQ(Agree(ranks).elapsed_seconds, 3);
}

}  // namespace
}  // namespace agoq
