#include "worker/train/optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "worker/model/init.h"

namespace agoq {
namespace {

ModelShape Shape() {
  return {.vocab_size = 100,
          .hidden_size = 48,
          .num_layers = 1,
          .num_heads = 2,
          .num_kv_heads = 1,
          .head_size = 24,
          .ffn_size = 96,
          .max_positions = 8};
}

class OptimizerTest : public testing::TestWithParam<ComputeType> {
 protected:
  OptimizerTest() : parameters_(Shape(), GetParam()) { InitializeParameters(parameters_, 0.02, 1); }

  // Adds `gradient(i)` of each parameter once.
  template <typename Gradient>
  GradientStore Store(Gradient gradient) {
    GradientStore store(parameters_.list(), {.compute = GetParam()});
    store.StartStep();
    for (int i = 0; i < parameters_.list().size(); ++i) store.Add(i, gradient(i));
    return store;
  }

  Parameters parameters_;
};

TEST_P(OptimizerTest, G12NormWeightsDoNotDecay) {
  Optimizer optimizer(parameters_, {.weight_decay = 0.1});
  optimizer.CopyMasters();
  std::vector<at::Tensor> before;
  for (const at::Tensor& weight : parameters_.tensors()) before.push_back(weight.clone());
  const GradientStore zero = Store([&](int i) { return at::zeros_like(before[i]); });
  optimizer.Step(zero, {.learning_rate = 0.1, .update = 1});
  for (int i = 0; i < parameters_.list().size(); ++i) {
    const at::Tensor& weight = parameters_.tensors()[i];
    if (!parameters_.list().parameters[i].is_matrix()) {
      EXPECT_TRUE(weight.equal(before[i])) << parameters_.list().parameters[i].name;
      continue;
    }
    const double tolerance = GetParam() == ComputeType::kBFloat16 ? 4e-3 : 1e-6;
    EXPECT_TRUE(weight.to(at::kDouble).allclose(before[i].to(at::kDouble) * 0.99, tolerance, 0));
  }
}

TEST_P(OptimizerTest, FirstUpdateMovesEachWeightByTheRateAgainstItsGradient) {
  Optimizer optimizer(parameters_, {.weight_decay = 0});
  optimizer.CopyMasters();
  std::vector<at::Tensor> before;
  for (int i = 0; i < parameters_.list().size(); ++i) {
    const OptimizerState& state = optimizer.states()[i];
    before.push_back((state.master.defined() ? state.master : parameters_.tensors()[i]).clone());
  }
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& weight : parameters_.tensors()) {
    gradients.push_back(at::randn(weight.sizes(), at::kDouble));
  }
  const GradientStore store =
      Store([&](int i) { return gradients[i].to(parameters_.tensors()[i].scalar_type()); });
  optimizer.Step(store, {.learning_rate = 0.01, .update = 1});
  for (int i = 0; i < parameters_.list().size(); ++i) {
    const OptimizerState& state = optimizer.states()[i];
    const at::Tensor& now = state.master.defined() ? state.master : parameters_.tensors()[i];
    const at::Tensor moved = (now - before[i]).to(at::kDouble);
    const at::Tensor expected = -0.01 * gradients[i].sign();
    EXPECT_LE((moved - expected).abs().median().item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, OptimizerTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kFloat64));

}  // namespace
}  // namespace agoq
