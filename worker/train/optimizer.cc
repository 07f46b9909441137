#include "worker/train/optimizer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "kernels/ops/adam.h"
#include "worker/memory/counting_allocator.h"

namespace agoq {

Optimizer::Optimizer(const Parameters& parameters, const OptimizerOptions& options)
    : parameters_(parameters), options_(options) {
  const LabelScope label(MemoryLabel::kOptimizer);
  for (const at::Tensor& weight : parameters.tensors()) {
    const bool needs_master = weight.scalar_type() == at::kBFloat16;
    const at::ScalarType type = needs_master ? at::kFloat : weight.scalar_type();
    OptimizerState state;
    if (needs_master) state.master = at::empty(weight.sizes(), type);
    state.moment1 = at::zeros(weight.sizes(), type);
    state.moment2 = at::zeros(weight.sizes(), type);
    states_.push_back(state);
  }
}

void Optimizer::CopyMasters() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].master.defined()) states_[i].master.copy_(parameters_.tensors()[i]);
  }
}

void Optimizer::Step(const GradientStore& gradients, const OptimizerStep& step) {
  for (int i = 0; i < parameters_.list().size(); ++i) {
    const StoredGradient gradient = gradients.gradient(i);
    const OptimizerState& state = states_[i];
    const bool is_matrix = parameters_.list().parameters[i].is_matrix();
    ops::AdamStep({.weight = parameters_.tensors()[i],
                   .master = state.master,
                   .moment1 = state.moment1,
                   .moment2 = state.moment2,
                   .quantized_gradient = gradient.quantized,
                   .gradient = gradient.exact,
                   .learning_rate = step.learning_rate,
                   .beta1 = options_.beta1,
                   .beta2 = options_.beta2,
                   .epsilon = options_.epsilon,
                   .weight_decay = is_matrix ? options_.weight_decay : 0.0,
                   .clip_factor = step.clip_factor,
                   .step = step.update});
  }
}

}  // namespace agoq
