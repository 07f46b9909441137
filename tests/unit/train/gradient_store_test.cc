#include "worker/train/gradient_store.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/ops/dequantize.h"
#include "worker/comm/local_communicator.h"

namespace agoq {
namespace {

constexpr QuantSpec kInt8 = {Format::kInt8, kGradientBlock};
constexpr int kMatrix = 0;  // 70 x 100: packed, its last block is short
constexpr int kSmall = 1;
constexpr int kVector = 2;

ParameterList ThreeParameters() {
  ParameterList list;
  list.parameters = {{"matrix", {70, 100}}, {"small", {3, 5}}, {"vector", {6000}}};
  return list;
}

at::Tensor ValueOf(const StoredGradient& stored) {
  if (stored.exact.defined()) return stored.exact.to(at::kDouble).reshape({-1});
  const at::Tensor out = at::ones({stored.quantized.num_elements}, at::kDouble);
  ops::Dequantize(stored.quantized, out);
  return out;
}

class GradientStoreTest : public testing::TestWithParam<std::optional<QuantSpec>> {
 protected:
  void AddConstants(GradientStore& store, double value) {
    for (int i = 0; i < list_.size(); ++i) {
      store.Add(i, at::full(list_.parameters[i].shape, value, at::kFloat));
    }
  }

  const ParameterList list_ = ThreeParameters();
};

TEST_P(GradientStoreTest, G14EveryMicroBatchCounts) {
  GradientStore store(list_, {.spec = GetParam()});
  for (int step = 0; step < 2; ++step) {
    store.StartStep();
    for (const double gradient : {1, 2, 3, 4}) AddConstants(store, gradient);
    for (int i = 0; i < list_.size(); ++i) {
      EXPECT_NEAR(ValueOf(store.gradient(i)).min().item<double>(), 10, 1e-5);
      EXPECT_NEAR(ValueOf(store.gradient(i)).max().item<double>(), 10, 1e-5);
    }
  }
}

TEST_P(GradientStoreTest, G14RanksHoldTheSameSumToTheByte) {
  constexpr int kRanks = 3;
  LocalGroup group(kRanks);
  std::vector<std::vector<at::Tensor>> sums(kRanks);
  std::vector<at::Tensor> expected;
  for (int i = 0; i < list_.size(); ++i) {
    expected.push_back(at::randn({kRanks, list_.parameters[i].num_elements()}, at::kDouble));
  }
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        GradientStore store(list_, {.spec = GetParam()});
        store.StartStep();
        for (int i = 0; i < list_.size(); ++i) {
          store.Add(i, expected[i][rank].to(at::kFloat).view(list_.parameters[i].shape));
        }
        store.Reduce(*group.Join(rank), std::chrono::seconds(20));
        for (int i = 0; i < list_.size(); ++i) {
          sums[rank].push_back(ValueOf(store.gradient(i)).clone());
        }
      });
    }
  }
  for (int i = 0; i < list_.size(); ++i) {
    const at::Tensor sum = expected[i].sum(0);
    const bool is_packed = GetParam().has_value() && i == kMatrix;
    EXPECT_LE(((sums[0][i] - sum).norm() / sum.norm()).item<double>(), is_packed ? 0.02 : 1e-6);
    for (int rank = 1; rank < kRanks; ++rank) EXPECT_TRUE(sums[rank][i].equal(sums[0][i]));
  }
}

TEST_P(GradientStoreTest, SquaredNormIsThatOfTheStoredValues) {
  GradientStore store(list_, {.spec = GetParam()});
  store.StartStep();
  double expected = 0;
  for (int i = 0; i < list_.size(); ++i) {
    store.Add(i, at::randn(list_.parameters[i].shape, at::kFloat));
    expected += ValueOf(store.gradient(i)).square().sum().item<double>();
  }
  EXPECT_NEAR(store.SquaredNorm(), expected, 1e-9 * expected);
}

TEST_P(GradientStoreTest, RecordsWhereAGradientIsNotFinite) {
  GradientStore store(list_, {.spec = GetParam()});
  store.StartStep();
  AddConstants(store, 1);
  EXPECT_FALSE(store.non_finite().any());
  at::Tensor bad = at::ones({70, 100}, at::kFloat);
  bad.view({-1})[600] = std::numeric_limits<float>::infinity();
  bad.view({-1})[601] = std::nanf("");
  store.Add(kMatrix, bad);
  EXPECT_EQ(store.non_finite().tensor_id, kMatrix);
  EXPECT_EQ(store.non_finite().first_block, 600 / kGradientBlock);
  EXPECT_EQ(store.non_finite().count, 2);
  store.StartStep();
  EXPECT_FALSE(store.non_finite().any());
}

TEST_P(GradientStoreTest, SmallTensorsAndVectorsStayExact) {
  GradientStore store(list_, {.spec = GetParam()});
  store.StartStep();
  for (const int parameter : {kSmall, kVector}) {
    const at::Tensor gradient = at::randn(list_.parameters[parameter].shape, at::kFloat);
    store.Add(parameter, gradient);
    EXPECT_TRUE(store.gradient(parameter).exact.equal(gradient));
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, GradientStoreTest,
                         testing::Values(std::optional<QuantSpec>(), std::optional(kInt8)),
                         [](const auto& info) { return info.param ? "Int8" : "Control"; });

TEST(ControlStoreTest, G06SumsOfBFloat16GradientsKeepSmallTerms) {
  ParameterList list;
  list.parameters = {{"matrix", {64, 64}}};
  GradientStore store(list, {.compute = ComputeType::kBFloat16});
  store.StartStep();
  store.Add(0, at::full({64, 64}, 1.0, at::kBFloat16));
  for (int i = 0; i < 8; ++i) store.Add(0, at::full({64, 64}, 0x1p-9, at::kBFloat16));
  EXPECT_EQ(store.gradient(0).exact.max().item<double>(), 1.015625);
}

}  // namespace
}  // namespace agoq
