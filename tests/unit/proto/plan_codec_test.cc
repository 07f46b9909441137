#include "proto/common/plan_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/common/plan_table.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BitPlan MixedPlan() {
  BitPlan plan = UniformPlan(PaperLayer(), 2, 2);
  plan.revision = 3;
  plan.hash = "abc";
  plan.effective_step = 1000000000000;
  plan.ranks[1].stage = 1;
  plan.ranks[1].budget_bytes = std::int64_t{1} << 40;
  plan.ranks[1].predicted_peak_bytes = 12345;
  plan.ranks[1].layers[1] = RecomputeLayer();
  plan.ranks[1].layers[0].at(Site::kV) = {PolicyKind::kPacked, {Format::kInt8, 64}};
  return plan;
}

void ExpectSamePlan(const BitPlan& a, const BitPlan& b) {
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.effective_step, b.effective_step);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t i = 0; i < a.ranks.size(); ++i) {
    EXPECT_EQ(a.ranks[i].rank, b.ranks[i].rank);
    EXPECT_EQ(a.ranks[i].stage, b.ranks[i].stage);
    EXPECT_EQ(a.ranks[i].budget_bytes, b.ranks[i].budget_bytes);
    EXPECT_EQ(a.ranks[i].predicted_peak_bytes, b.ranks[i].predicted_peak_bytes);
    ASSERT_EQ(a.ranks[i].layers.size(), b.ranks[i].layers.size());
    for (std::size_t j = 0; j < a.ranks[i].layers.size(); ++j) {
      EXPECT_EQ(a.ranks[i].layers[j].sites, b.ranks[i].layers[j].sites);
      EXPECT_EQ(a.ranks[i].layers[j].reason, b.ranks[i].layers[j].reason);
    }
  }
}

// One rank, one layer, with the given text as its list of sites.
DecodedPlan FromSites(const std::string& sites) {
  return PlanFromJson(R"({"ranks": [{"layers": [{"sites": [)" + sites + "]}]}]}", "plan.json");
}

TEST(PlanCodec, MessageReadsBackTheSame) {
  const DecodedPlan decoded = DecodePlan(EncodePlan(MixedPlan()));
  EXPECT_THAT(decoded.errors, IsEmpty());
  ExpectSamePlan(decoded.plan, MixedPlan());
}

TEST(PlanCodec, JsonReadsBackTheSame) {
  const DecodedPlan decoded = PlanFromJson(PlanToJson(MixedPlan()), "plan.json");
  EXPECT_THAT(decoded.errors, IsEmpty());
  ExpectSamePlan(decoded.plan, MixedPlan());
}

TEST(PlanCodec, JsonUsesTheNamesOfTheProtoFile) {
  EXPECT_THAT(PlanToJson(MixedPlan()),
              AllOf(HasSubstr("\"effective_step\""), HasSubstr("\"kind\": \"PACKED\""),
                    HasSubstr("\"format\": \"nf4\"")));
}

TEST(PlanCodec, SitesWithoutAnEntryAreFull) {
  const DecodedPlan decoded = FromSites(R"({"site": "x2", "kind": "packed", "format": "nf4"})");
  ASSERT_THAT(decoded.errors, IsEmpty());
  const LayerPlan& layer = decoded.plan.ranks[0].layers[0];
  EXPECT_EQ(layer.at(Site::kX1), SitePolicy{});
  EXPECT_EQ(layer.at(Site::kX2), (SitePolicy{PolicyKind::kPacked, {Format::kNf4, 128}}));
}

TEST(PlanCodec, LayersMayComeInAnyOrder) {
  const DecodedPlan decoded = PlanFromJson(
      R"({"ranks": [{"layers": [{"layer": 1, "reason": "b"}, {"layer": 0, "reason": "a"}]}]})",
      "p");
  ASSERT_THAT(decoded.errors, IsEmpty());
  EXPECT_EQ(decoded.plan.ranks[0].layers[0].reason, "a");
  EXPECT_EQ(decoded.plan.ranks[0].layers[1].reason, "b");
}

TEST(PlanCodec, RefusesALayerThatIsThereTwiceOrOutOfRange) {
  for (const char* layers : {R"({"layer": 0}, {"layer": 0})", R"({"layer": 0}, {"layer": 2})",
                             R"({"layer": 0}, {"layer": -1})"}) {
    const std::string json = std::string(R"({"ranks": [{"layers": [)") + layers + "]}]}";
    EXPECT_THAT(PlanFromJson(json, "p").errors, ElementsAre(HasSubstr("from 0 to 1"))) << layers;
  }
}

TEST(PlanCodec, NamesAnUnknownSite) {
  EXPECT_THAT(FromSites(R"({"site": "x3", "kind": "FULL"})").errors,
              ElementsAre(AllOf(HasSubstr("plan.json"), HasSubstr("\"x3\""), HasSubstr("gate"))));
}

TEST(PlanCodec, NamesAnUnknownFormat) {
  EXPECT_THAT(FromSites(R"({"site": "up", "kind": "PACKED", "format": "int3"})").errors,
              ElementsAre(AllOf(HasSubstr("site up"), HasSubstr("\"int3\""), HasSubstr("nf4"))));
}

TEST(PlanCodec, RefusesASiteWithoutKind) {
  EXPECT_THAT(FromSites(R"({"site": "up"})").errors, ElementsAre(HasSubstr("FULL, PACKED")));
}

TEST(PlanCodec, RefusesAFormatOnAFullSite) {
  EXPECT_THAT(FromSites(R"({"site": "up", "kind": "FULL", "format": "nf4"})").errors,
              ElementsAre(HasSubstr("belong to kind PACKED")));
}

TEST(PlanCodec, RefusesASiteThatIsThereTwice) {
  EXPECT_THAT(FromSites(R"({"site": "up", "kind": "FULL"}, {"site": "up", "kind": "FULL"})").errors,
              ElementsAre(HasSubstr("is there twice")));
}

TEST(PlanCodec, RefusesTextThatIsNoPlan) {
  for (const char* text : {"", "{", "[]", R"({"rank": []})", "plan: full"}) {
    EXPECT_THAT(PlanFromJson(text, "plan.json").errors,
                ElementsAre(AllOf(HasSubstr("plan.json"), HasSubstr("not a BitPlan"))))
        << text;
  }
}

TEST(PlanCodec, ShapeReadsBackTheSame) {
  ModelShape shape;
  shape.vocab_size = 256;
  shape.hidden_size = 5120;
  shape.num_layers = 4;
  shape.num_heads = 32;
  shape.num_kv_heads = 8;
  shape.head_size = 128;
  shape.ffn_size = 344;
  shape.max_positions = 128;
  shape.tied_head = true;
  shape.norm_epsilon = 1e-6;
  EXPECT_EQ(ShapeFromSpec(SpecFromShape(shape)), shape);
}

TEST(PlanTable, ShowsBitsWithScalesAndJoinsEqualLayers) {
  PlanTableOptions options;
  options.compute = ComputeType::kBFloat16;
  const std::string table = PlanTable(UniformPlan(PaperLayer(), 4, 2), options);
  EXPECT_THAT(table,
              AllOf(HasSubstr("ranks 0-1, stage 0"), HasSubstr("0-3"), HasSubstr("nf4/128 4.25"),
                    HasSubstr("full 16"), HasSubstr("attention is kept full")));
}

TEST(PlanTable, SplitsRanksAndLayersThatDiffer) {
  BitPlan plan = UniformPlan(FullLayer(), 2, 2);
  plan.ranks[1].layers[1] = RecomputeLayer();
  plan.ranks[1].budget_bytes = 1000;
  const std::string table = PlanTable(plan, {});
  EXPECT_THAT(table, AllOf(HasSubstr("rank 0,"), HasSubstr("rank 1,"), HasSubstr("budget 1000"),
                           HasSubstr("recompute")));
}

TEST(PlanTable, AddsBytesOfALayerWhenGiven) {
  PlanTableOptions options;
  options.layer_bytes.resize(1);
  options.layer_bytes[0].fill(11);
  EXPECT_THAT(PlanTable(UniformPlan(FullLayer(), 1, 1), options),
              AllOf(HasSubstr("11 B"), HasSubstr("88 B")));
}

}  // namespace
}  // namespace agoq
