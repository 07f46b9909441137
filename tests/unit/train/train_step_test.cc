// Steps with batches made by hand.
#include "worker/train/train_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "tests/support/local_training.h"
#include "worker/comm/local_communicator.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

// `rows` sequences of which row r has `targets[r]` tokens that count.
Batch MakeBatch(const std::vector<int>& targets, std::int64_t first_id) {
  constexpr std::int64_t kLength = 8;
  const auto rows = static_cast<std::int64_t>(targets.size());
  Batch batch = EmptyBatch(rows, kLength);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t t = 0; t < kLength; ++t) {
      const bool counts = t < targets[row];
      batch.ids_BT[row][t] = (first_id + 31 * row + 7 * t) % 256;
      batch.targets_BT[row][t] = counts ? (first_id + 31 * row + 7 * t + 7) % 256 : kIgnoreIndex;
      batch.positions_BT[row][t] = t;
      batch.num_targets += counts ? 1 : 0;
    }
  }
  return batch;
}

Batch Stacked(const Batch& a, const Batch& b) {
  Batch both = EmptyBatch(a.ids_BT.size(0) + b.ids_BT.size(0), a.ids_BT.size(1));
  const auto fill = [&](const at::Tensor& to, const at::Tensor& first, const at::Tensor& second) {
    to.narrow(0, 0, first.size(0)).copy_(first);
    to.narrow(0, first.size(0), second.size(0)).copy_(second);
  };
  fill(both.ids_BT, a.ids_BT, b.ids_BT);
  fill(both.targets_BT, a.targets_BT, b.targets_BT);
  fill(both.positions_BT, a.positions_BT, b.positions_BT);
  both.num_targets = a.num_targets + b.num_targets;
  return both;
}

struct RankResult {
  std::vector<StepOutcome> outcomes;
  CheckpointCounters counters;
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> moments;
};

using Steps = std::vector<std::vector<Batch>>;
using Spoil = std::function<void(int rank, std::size_t step, TrainState& state)>;

// Rank r takes steps[r]; `spoil` may damage a rank's state before a step.
std::vector<RankResult> RunRanks(
    const std::vector<Steps>& steps, std::optional<QuantSpec> spec,
    const Spoil& spoil = [](int, std::size_t, TrainState&) {}) {
  const int size = static_cast<int>(steps.size());
  TrainOptions options = SmallTraining(size);
  options.gradient_spec = spec;
  options.sequence_length = 8;
  options.steps = 100;
  options.optimizer.clip_norm = 0;
  LocalGroup group(size);
  std::vector<RankResult> results(static_cast<std::size_t>(size));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto communicator = group.Join(rank);
      TrainState state(options);
      TrainStep step(options, *communicator, state, [] { return RankWord(); });
      for (std::size_t i = 0; i < steps[rank].size(); ++i) {
        spoil(rank, i, state);
        results[rank].outcomes.push_back(step.Run(steps[rank][i], /*sample_errors=*/false));
      }
      results[rank].counters = state.counters;
      for (const at::Tensor& weight : state.stage.parameters().tensors()) {
        results[rank].weights.push_back(weight.clone());
      }
      for (const OptimizerState& moments : state.optimizer.states()) {
        results[rank].moments.push_back(moments.moment1.clone());
        results[rank].moments.push_back(moments.moment2.clone());
      }
    });
  }
  threads.clear();
  return results;
}

void ExpectClose(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].allclose(b[i], 1e-4, 1e-7)) << i;
}

void ExpectEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << i;
}

TEST(TrainStepTest, G01UnevenMicroBatchesWeighByTheirTargets) {
  const Batch a = MakeBatch({3}, 10);
  const Batch b = MakeBatch({1}, 100);
  const RankResult whole = RunRanks({{{Stacked(a, b)}}}, std::nullopt)[0];
  const RankResult cut = RunRanks({{{a, b}}}, std::nullopt)[0];
  const RankResult ranks = RunRanks({{{a}}, {{b}}}, std::nullopt)[0];
  EXPECT_EQ(whole.outcomes[0].targets, 4);
  for (const RankResult* other : {&cut, &ranks}) {
    EXPECT_NEAR(other->outcomes[0].loss, whole.outcomes[0].loss, 1e-6);
    EXPECT_NEAR(other->outcomes[0].gradient_norm, whole.outcomes[0].gradient_norm, 1e-5);
    ExpectClose(other->moments, whole.moments);
  }
}

class NonFiniteStepTest : public testing::TestWithParam<std::optional<QuantSpec>> {};

TEST_P(NonFiniteStepTest, G03OneRanksBadValueIsSkippedByAllAndNamed) {
  const Steps steps = {{MakeBatch({8, 8}, 1)}, {MakeBatch({8, 8}, 50)}, {MakeBatch({8, 8}, 90)}};
  at::Tensor kept;
  const auto spoil = [&](int rank, std::size_t step, TrainState& state) {
    if (rank != 1) return;
    const at::Tensor down = state.stage.parameters().blocks()[1].down_DF;
    if (step == 1) {
      kept = down.clone();
      down.view({-1})[300] = std::nanf("");
    }
    if (step == 2) down.copy_(kept);
  };
  const std::vector<RankResult> spoilt = RunRanks({steps, steps}, GetParam(), spoil);
  // The same without the bad step.
  const std::vector<RankResult> clean =
      RunRanks({{steps[0], steps[2]}, {steps[0], steps[2]}}, GetParam());
  for (const RankResult& rank : spoilt) {
    EXPECT_THAT(rank.outcomes[1].non_finite, HasSubstr("rank 1"));
    EXPECT_THAT(rank.outcomes[1].non_finite, HasSubstr("block"));
    EXPECT_TRUE(rank.outcomes[2].non_finite.empty());
    EXPECT_EQ(rank.counters.skipped_steps, 1);
    EXPECT_EQ(rank.counters.step, 3);
    ExpectEqual(rank.weights, clean[0].weights);
    ExpectEqual(rank.moments, clean[0].moments);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, NonFiniteStepTest,
                         testing::Values(std::optional<QuantSpec>(),
                                         std::optional(QuantSpec{Format::kInt8, kGradientBlock})),
                         [](const auto& info) { return info.param ? "Int8" : "Control"; });

}  // namespace
}  // namespace agoq
