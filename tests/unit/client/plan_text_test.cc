#include "client/plan_text.h"

#include <gtest/gtest.h>

#include "client/rank_text.h"
#include "proto/common/plan_codec.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

// Layers 0 and 1 as the paper has them, layer 2 full.
BitPlan Mixed() {
  BitPlan plan = UniformPlan(PaperLayer(), 3, 1);
  for (LayerPlan& layer : plan.ranks[0].layers) layer.reason = "enough room";
  plan.ranks[0].layers[2] = FullLayer();
  plan.ranks[0].layers[2].reason = "bytes are left";
  plan.ranks[0].predicted_peak_bytes = 3072;
  return plan;
}

TEST(PlanText, HasBitsBytesFiguresAndReasonsOfARank) {
  v1::PlanJobResponse response;
  *response.mutable_plan() = EncodePlan(Mixed());
  v1::PlannedRank& rank = *response.add_ranks();
  rank.set_worker("worker-0");
  rank.set_budget_bytes(4096);
  rank.set_predicted_error(0.0123);
  rank.set_predicted_slowdown(0.05);
  for (const auto& [name, bytes] : {std::pair("weights", 1024), std::pair("x1", 2048)}) {
    v1::LabelBytes& label = *rank.add_predicted();
    label.set_label(name);
    label.set_bytes(bytes);
  }
  for (int layer = 0; layer < 3; ++layer) {
    for (int site = 0; site < kNumSites; ++site) rank.add_layer_site_bytes(layer == 2 ? 2 : 1);
  }
  EXPECT_EQ(
      PlanText(response, ComputeType::kFloat32),
      "rank 0 on worker worker-0: budget 4.0 KiB, predicted peak 3.0 KiB (75.00%), error 1.23%,"
      " slow-down 5.00%\n"
      "at the peak: x1 2.0 KiB, weights 1.0 KiB\n"
      "layer  x1            q        k        v        o        x2            gate          up"
      "            bytes\n"
      "0-1    nf4/128 4.25  full 32  full 32  full 32  full 32  nf4/128 4.25  nf4/128 4.25"
      "  nf4/128 4.25\n"
      "each   1 B           1 B      1 B      1 B      1 B      1 B           1 B           1 B"
      "           8 B\n"
      "2      full 32       full 32  full 32  full 32  full 32  full 32       full 32       full "
      "32\n"
      "each   2 B           2 B      2 B      2 B      2 B      2 B           2 B           2 B"
      "           16 B\n"
      "layer 0-1: enough room\n"
      "layer 2: bytes are left\n");
}

TEST(BitsByLayers, NamesRunsOnlyWhereLayersDiffer) {
  const BitPlan plan = Mixed();
  EXPECT_EQ(BitsByLayers(plan.ranks[0], Site::kQ, ComputeType::kBFloat16), "16");
  EXPECT_EQ(BitsByLayers(plan.ranks[0], Site::kX1, ComputeType::kFloat32), "4.25 (0-1), 32 (2)");
}

TEST(BitsByLayers, NamesWhatIsRecomputed) {
  const BitPlan plan = UniformPlan(RecomputeLayer(), 2, 1);
  EXPECT_EQ(BitsByLayers(plan.ranks[0], Site::kGate, ComputeType::kFloat32), "recompute");
}

TEST(AlignedText, GivesColoursNoWidth) {
  EXPECT_EQ(AlignedText({{"\x1b[31mab\x1b[0m", "c"}, {"abcd", "e"}}),
            "\x1b[31mab\x1b[0m    c\nabcd  e\n");
}

TEST(AlignedText, KeepsControlCharactersOffTheTerminal) {
  EXPECT_EQ(AlignedText({{"a\nb\x1b[2Jc"}}), "a b [2Jc\n");
}

}  // namespace
}  // namespace agoq
