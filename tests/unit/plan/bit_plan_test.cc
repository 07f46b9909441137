#include "worker/plan/bit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SitePolicy kRecomputed = {PolicyKind::kRecompute, {}};

SitePolicy Packed(Format format, std::int64_t block = 128) {
  return {PolicyKind::kPacked, {format, block}};
}

PlanReview ReviewLayer(const LayerPlan& layer) {
  return ReviewPlan(UniformPlan(layer, 1, 1), 1, 1);
}

TEST(BitPlan, NamesOfSitesReadBack) {
  for (Site site : kAllSites) EXPECT_EQ(SiteFromName(NameOf(site)), site);
  EXPECT_EQ(SiteFromName("x3"), std::nullopt);
  EXPECT_EQ(SiteFromName(""), std::nullopt);
}

TEST(BitPlan, PaperKeepsAttentionFullAndTheRestAtFourBits) {
  const LayerPlan layer = PaperLayer();
  for (Site site : {Site::kQ, Site::kK, Site::kV, Site::kO}) {
    EXPECT_EQ(layer.at(site), SitePolicy{}) << NameOf(site);
  }
  for (Site site : {Site::kX1, Site::kX2, Site::kGate, Site::kUp}) {
    EXPECT_EQ(layer.at(site), Packed(Format::kNf4, 128)) << NameOf(site);
  }
}

TEST(BitPlan, NamedTablesAreValidWithoutWarnings) {
  for (const char* name : {"full", "paper", "recompute"}) {
    const PlanReview review = ReviewLayer(*LayerFromPolicyName(name));
    EXPECT_THAT(review.errors, IsEmpty()) << name;
    EXPECT_THAT(review.warnings, IsEmpty()) << name;
  }
  EXPECT_EQ(LayerFromPolicyName("papre"), std::nullopt);
}

TEST(BitPlan, OnlyTheRecomputeTableRecomputesTheBlock) {
  EXPECT_TRUE(RecomputeLayer().recomputes_block());
  EXPECT_FALSE(FullLayer().recomputes_block());
  EXPECT_FALSE(PaperLayer().recomputes_block());
}

TEST(BitPlan, UniformPlanGivesEachRankEveryLayer) {
  const BitPlan plan = UniformPlan(PaperLayer(), 3, 2);
  ASSERT_EQ(plan.ranks.size(), 2u);
  EXPECT_EQ(plan.ranks[1].rank, 1);
  EXPECT_EQ(plan.ranks[1].layers.size(), 3u);
  EXPECT_THAT(ReviewPlan(plan, 3, 2).errors, IsEmpty());
}

TEST(BitPlan, RefusesToRecomputeX1) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kX1) = kRecomputed;
  EXPECT_THAT(ReviewLayer(layer).errors,
              ElementsAre(AllOf(HasSubstr("rank 0, layer 0, site x1"), HasSubstr("keep x1"))));
}

TEST(BitPlan, AllowsQueriesFromX1AtEightBits) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kX1) = Packed(Format::kInt8);
  for (Site site : {Site::kQ, Site::kK, Site::kV}) layer.at(site) = kRecomputed;
  EXPECT_THAT(ReviewLayer(layer).errors, IsEmpty());
}

TEST(BitPlan, RefusesQueriesFromX1AtFourBits) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kX1) = Packed(Format::kNf4);
  layer.at(Site::kK) = kRecomputed;
  EXPECT_THAT(ReviewLayer(layer).errors,
              ElementsAre(AllOf(HasSubstr("site k"), HasSubstr("nf4/128"))));
}

TEST(BitPlan, RefusesTheWholeBlockFromPackedX1) {
  LayerPlan layer = RecomputeLayer();
  layer.at(Site::kX1) = Packed(Format::kInt8);
  EXPECT_THAT(ReviewLayer(layer).errors,
              ElementsAre(AllOf(HasSubstr("site x1"), HasSubstr("keep x1 full"))));
}

TEST(BitPlan, AllowsGateAndUpFromPackedX2) {
  LayerPlan layer = PaperLayer();
  layer.at(Site::kGate) = kRecomputed;
  layer.at(Site::kUp) = kRecomputed;
  EXPECT_THAT(ReviewLayer(layer).errors, IsEmpty());
}

TEST(BitPlan, RefusesToRecomputeAttentionOutputOrX2Alone) {
  for (Site site : {Site::kO, Site::kX2}) {
    LayerPlan layer = FullLayer();
    layer.at(site) = kRecomputed;
    EXPECT_THAT(ReviewLayer(layer).errors, ElementsAre(HasSubstr("whole block"))) << NameOf(site);
  }
}

TEST(BitPlan, WarnsOfFourBitQueriesKeysAndAttentionOutput) {
  for (Site site : {Site::kQ, Site::kK, Site::kO}) {
    LayerPlan layer = FullLayer();
    layer.at(site) = Packed(Format::kNf4);
    const PlanReview review = ReviewLayer(layer);
    EXPECT_THAT(review.errors, IsEmpty());
    EXPECT_THAT(review.warnings, ElementsAre(HasSubstr("known to break training")));
  }
}

TEST(BitPlan, DoesNotWarnOfFourBitValuesOrEightBitQueries) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kV) = Packed(Format::kNf4);
  layer.at(Site::kQ) = Packed(Format::kInt8);
  EXPECT_THAT(ReviewLayer(layer).warnings, IsEmpty());
}

TEST(BitPlan, RefusesBlocksThatAreNoPowerOfTwoOrOutOfRange) {
  for (std::int64_t block : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, std::int64_t{16},
                             std::int64_t{96}, std::int64_t{4096}, INT64_MAX}) {
    LayerPlan layer = FullLayer();
    layer.at(Site::kUp) = Packed(Format::kNf4, block);
    EXPECT_THAT(ReviewLayer(layer).errors, ElementsAre(HasSubstr(std::to_string(block)))) << block;
  }
}

TEST(BitPlan, NamesBothCountsWhenLayersAreMissing) {
  const PlanReview review = ReviewPlan(UniformPlan(FullLayer(), 3, 1), 4, 1);
  EXPECT_THAT(review.errors, ElementsAre(AllOf(HasSubstr("3 layers"), HasSubstr("has 4"))));
}

TEST(BitPlan, NamesBothCountsWhenRanksAreMissing) {
  const PlanReview review = ReviewPlan(UniformPlan(FullLayer(), 1, 1), 1, 2);
  EXPECT_THAT(review.errors, ElementsAre(AllOf(HasSubstr("1 ranks"), HasSubstr("has 2"))));
}

TEST(BitPlan, RefusesARankThatIsListedTwice) {
  BitPlan plan = UniformPlan(FullLayer(), 1, 2);
  plan.ranks[1].rank = 0;
  EXPECT_THAT(ReviewPlan(plan, 1, 2).errors, ElementsAre(HasSubstr("entry 1 is of rank 0")));
}

TEST(BitPlan, PoliciesThatAreNotPackedCompareByKindAlone) {
  EXPECT_EQ((SitePolicy{PolicyKind::kFull, {Format::kNf4, 64}}), SitePolicy{});
  EXPECT_NE(Packed(Format::kNf4, 64), Packed(Format::kNf4, 128));
}

}  // namespace
}  // namespace agoq
