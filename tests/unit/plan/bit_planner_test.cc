#include "worker/plan/bit_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "worker/plan/layer_choices.h"
#include "worker/plan/recompute_cost.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelShape SmallModel(std::int64_t num_layers) {
  return {.vocab_size = 64,
          .hidden_size = 48,
          .num_layers = num_layers,
          .num_heads = 4,
          .num_kv_heads = 2,
          .head_size = 12,
          .ffn_size = 112,
          .max_positions = 64};
}

PlannerInput SmallInput(std::int64_t num_layers) {
  PlannerInput input;
  input.memory.model = SmallModel(num_layers);
  input.memory.micro_batch_size = 3;
  input.memory.sequence_length = 32;
  return input;
}

// The demo's model and batch (deploy/examples).
PlannerInput DemoInput() {
  PlannerInput input;
  input.memory = {.model = {.vocab_size = 256,
                            .hidden_size = 128,
                            .num_layers = 4,
                            .num_heads = 4,
                            .num_kv_heads = 4,
                            .head_size = 32,
                            .ffn_size = 344,
                            .max_positions = 128},
                  .gradient_spec = QuantSpec{Format::kInt8, kGradientBlock},
                  .micro_batch_size = 8,
                  .sequence_length = 128,
                  .num_ranks = 2};
  input.errors = DefaultErrorTable(input.memory.model);
  return input;
}

PlannerInput Llama7b() {
  PlannerInput input;
  input.memory = {.model = {.vocab_size = 32000,
                            .hidden_size = 4096,
                            .num_layers = 32,
                            .num_heads = 32,
                            .num_kv_heads = 32,
                            .head_size = 128,
                            .ffn_size = 11008,
                            .max_positions = 4096},
                  .compute = ComputeType::kBFloat16,
                  .gradient_spec = QuantSpec{Format::kInt8, kGradientBlock},
                  .micro_batch_size = 1,
                  .sequence_length = 4096};
  return input;
}

RankOutcome Paper(const PlannerInput& input) {
  return CheckLayers(input,
                     std::vector<LayerPlan>(static_cast<std::size_t>(input.memory.model.num_layers),
                                            PaperLayer()));
}

double CostOf(const PlannerInput& input, const std::vector<LayerPlan>& layers) {
  double slowdown = 0;
  for (const LayerPlan& layer : layers) {
    slowdown += RecomputeSlowdown(input.memory.model, input.memory.sequence_length, layer);
  }
  return std::pow(PredictError(input.errors, layers), 2) + kRecomputeWeight * slowdown;
}

// Every plan that the rules allow, by plain enumeration: independent of fronts and knapsack.
void ForEachPlan(const PlannerInput& input,
                 const std::function<void(const std::vector<LayerPlan>&)>& visit) {
  const SitePolicy full;
  const SitePolicy eight = {PolicyKind::kPacked, {Format::kInt8, kActivationBlock}};
  const SitePolicy four = {PolicyKind::kPacked, {Format::kNf4, kActivationBlock}};
  const SitePolicy again = {PolicyKind::kRecompute, {}};
  const std::vector<SitePolicy> choices = {full, eight, four, again};
  std::vector<LayerPlan> valid;
  LayerPlan plan;
  std::function<void(std::size_t)> fill = [&](std::size_t site) {
    if (site == kNumSites) {
      const PlanReview review = ReviewPlan(UniformPlan(plan, 1, 1), 1, 1);
      if (review.errors.empty() && review.warnings.empty()) valid.push_back(plan);
      return;
    }
    for (const SitePolicy& choice : choices) {
      plan.sites[site] = choice;
      fill(site + 1);
    }
  };
  fill(0);
  std::vector<LayerPlan> layers(static_cast<std::size_t>(input.memory.model.num_layers));
  std::function<void(std::size_t)> place = [&](std::size_t layer) {
    if (layer == layers.size()) return visit(layers);
    for (const LayerPlan& choice : valid) {
      layers[layer] = choice;
      place(layer + 1);
    }
  };
  place(0);
}

std::int64_t SavedBytesOf(const PlannerInput& input, const std::vector<LayerPlan>& layers) {
  std::int64_t bytes = 0;
  for (const LayerPlan& layer : layers) bytes += SavedBytes(input.memory, layer);
  return bytes;
}

TEST(BitPlanner, KeepsEverythingWithoutABound) {
  const RankOutcome outcome = PlanAuto(SmallInput(2));
  EXPECT_TRUE(outcome.fits);
  EXPECT_EQ(outcome.layers[1].sites, FullLayer().sites);
  EXPECT_EQ(outcome.error, 0);
}

TEST(BitPlanner, HasTheLeastCostThatAnyPlanWithinTheSavedBytesHas) {
  std::mt19937 random(1);
  PlannerInput input = SmallInput(1);
  const std::int64_t most = SavedBytes(input.memory, FullLayer());
  for (int round = 0; round < 12; ++round) {
    input.saved_budget_bytes = most * (20 + static_cast<std::int64_t>(random() % 90)) / 100;
    double least = std::numeric_limits<double>::infinity();
    ForEachPlan(input, [&](const std::vector<LayerPlan>& layers) {
      if (SavedBytesOf(input, layers) > input.saved_budget_bytes) return;
      least = std::min(least, CostOf(input, layers));
    });
    const RankOutcome outcome = PlanAuto(input);
    ASSERT_TRUE(outcome.fits);
    EXPECT_LE(outcome.saved_bytes, input.saved_budget_bytes);
    EXPECT_NEAR(CostOf(input, outcome.layers), least, 1e-15);
  }
}

TEST(BitPlanner, HasTheFewestBytesThatAnyPlanWithinTheErrorHas) {
  PlannerInput input = SmallInput(1);
  for (const double error : {0.02, 0.03, 0.05, 0.08, 0.12}) {
    input.error_budget = error;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    ForEachPlan(input, [&](const std::vector<LayerPlan>& layers) {
      if (CostOf(input, layers) > error * error) return;
      fewest = std::min(fewest, SavedBytesOf(input, layers));
    });
    const RankOutcome outcome = PlanAuto(input);
    ASSERT_TRUE(outcome.fits);
    EXPECT_LE(outcome.error, error);
    EXPECT_EQ(outcome.saved_bytes, fewest);
  }
}

// Two layers: too many plans for an enumeration of sites, so of the layers' own best choices.
TEST(BitPlanner, CombinesLayersExactly) {
  PlannerInput input = SmallInput(2);
  const ChoiceRules rules = {.errors = input.errors, .recompute_weight = kRecomputeWeight};
  const auto first = ListLayerChoices(input.memory, rules, 0);
  const auto second = ListLayerChoices(input.memory, rules, 1);
  for (std::int64_t budget = 60'000; budget < 400'000; budget += 20'011) {
    double least = std::numeric_limits<double>::infinity();
    for (const LayerChoice& a : first) {
      for (const LayerChoice& b : second) {
        if (a.bytes + b.bytes <= budget) least = std::min(least, a.cost + b.cost);
      }
    }
    input.saved_budget_bytes = budget;
    const RankOutcome outcome = PlanAuto(input);
    ASSERT_EQ(outcome.fits, std::isfinite(least));
    if (!outcome.fits) continue;
    EXPECT_NEAR(CostOf(input, outcome.layers), least, 1e-15);
  }
}

TEST(BitPlanner, NeverPlansAboveTheBudgetNorBreaksARule) {
  PlannerInput input = DemoInput();
  const std::int64_t full = PlanAuto(input).predicted.total();
  const std::int64_t least = SmallestBudget(input);
  double last_cost = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= 40; ++step) {
    input.budget_bytes = least + (full - least) * step / 40;
    const RankOutcome outcome = PlanAuto(input);
    ASSERT_TRUE(outcome.fits) << input.budget_bytes << ": " << outcome.message;
    EXPECT_LE(outcome.predicted.total(), input.budget_bytes);
    BitPlan plan;
    plan.ranks.push_back({.layers = outcome.layers});
    const PlanReview review = ReviewPlan(plan, 4, 1);
    EXPECT_THAT(review.errors, IsEmpty());
    EXPECT_THAT(review.warnings, IsEmpty());
    const double cost = CostOf(input, outcome.layers);
    EXPECT_LE(cost, last_cost + 1e-12) << "more memory made it worse";
    last_cost = cost;
  }
  EXPECT_EQ(last_cost, 0);
}

TEST(BitPlanner, SaysWhichBudgetAndWhichBatchWouldFit) {
  PlannerInput input = DemoInput();
  const std::int64_t least = SmallestBudget(input);
  input.budget_bytes = least - 1;
  const RankOutcome refused = PlanAuto(input);
  EXPECT_FALSE(refused.fits);
  EXPECT_EQ(refused.smallest_budget_bytes, least);
  EXPECT_EQ(refused.largest_micro_batch_size, 7);
  EXPECT_THAT(refused.message, HasSubstr("a micro_batch_size of 7 would fit"));
  input.budget_bytes = least;
  EXPECT_TRUE(PlanAuto(input).fits);
  input.budget_bytes = least - 1;
  input.memory.micro_batch_size = 7;
  EXPECT_TRUE(PlanAuto(input).fits);
}

TEST(BitPlanner, SaysThatNoBatchFits) {
  PlannerInput input = DemoInput();
  input.budget_bytes = 1 << 20;
  const RankOutcome refused = PlanAuto(input);
  EXPECT_EQ(refused.largest_micro_batch_size, 0);
  EXPECT_THAT(refused.message, HasSubstr("no micro_batch_size would fit"));
}

TEST(BitPlanner, HoldsTheBoundOfTheSlowdown) {
  PlannerInput input = DemoInput();
  input.saved_budget_bytes = 3 * Paper(input).saved_bytes / 10;
  const RankOutcome free = PlanAuto(input);
  ASSERT_GT(free.slowdown, 0.06);
  input.max_slowdown = 0.06;
  input.saved_budget_bytes = 4 * Paper(input).saved_bytes / 10;
  const RankOutcome bounded = PlanAuto(input);
  ASSERT_TRUE(bounded.fits);
  EXPECT_LE(bounded.slowdown, 0.06);
}

TEST(BitPlanner, ChecksAGivenPlanAgainstTheBudget) {
  PlannerInput input = DemoInput();
  input.budget_bytes = Paper(input).predicted.total();
  EXPECT_TRUE(Paper(input).fits);
  --input.budget_bytes;
  EXPECT_FALSE(Paper(input).fits);
  EXPECT_EQ(Paper(input).smallest_budget_bytes, input.budget_bytes + 1);
}

TEST(BitPlanner, TakesTheSmallBatchOfTheMeasuredModelForItsErrors) {
  // Two sums of sensitivities that were also measured as a whole: 0.0863 and 0.0893.
  PlannerInput input = Llama7b();
  EXPECT_NEAR(Paper(input).error, 0.0868, 0.0001);
  LayerPlan layer = PaperLayer();
  for (const Site site : {Site::kQ, Site::kK, Site::kV}) {
    layer.at(site) = {PolicyKind::kPacked, {Format::kInt8, kActivationBlock}};
  }
  EXPECT_NEAR(CheckLayers(input, std::vector<LayerPlan>(32, layer)).error, 0.0900, 0.0002);
}

TEST(BitPlanner, BeatsThePaperOnTheDemoModel) {
  PlannerInput input = DemoInput();
  const RankOutcome paper = Paper(input);
  PlannerInput same_bytes = input;
  same_bytes.saved_budget_bytes = paper.saved_bytes;
  const RankOutcome exact = PlanAuto(same_bytes);
  PlannerInput same_error = input;
  same_error.error_budget = paper.error;
  const RankOutcome small = PlanAuto(same_error);
  std::printf("demo model, fp32: error %.3f of paper's at its bytes; bytes %.3f at its error\n",
              exact.error / paper.error,
              static_cast<double>(small.saved_bytes) / static_cast<double>(paper.saved_bytes));
  EXPECT_LE(exact.error, 0.2 * paper.error);
  EXPECT_LE(static_cast<double>(small.saved_bytes), 0.45 * static_cast<double>(paper.saved_bytes));
}

TEST(BitPlanner, BeatsThePaperOnLlama7bWithEightAndFourBitsAlone) {
  PlannerInput input = Llama7b();
  input.allows_recompute = false;
  const RankOutcome paper = Paper(input);
  PlannerInput same_bytes = input;
  same_bytes.saved_budget_bytes = paper.saved_bytes;
  const RankOutcome exact = PlanAuto(same_bytes);
  PlannerInput same_error = input;
  same_error.error_budget = paper.error;
  const RankOutcome small = PlanAuto(same_error);
  std::printf("Llama-2-7B, bf16: error %.3f of paper's at its bytes; bytes %.3f at its error\n",
              exact.error / paper.error,
              static_cast<double>(small.saved_bytes) / static_cast<double>(paper.saved_bytes));
  EXPECT_LE(exact.error, 0.35 * paper.error);
  EXPECT_LE(static_cast<double>(small.saved_bytes), 0.72 * static_cast<double>(paper.saved_bytes));
}

}  // namespace
}  // namespace agoq
