// One AdamW update of one tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/ref/quantized_view.h"

namespace agoq::ops {

// Tensors are contiguous (row ranges of a larger tensor are) and have the same number of elements.
struct AdamArgs {
  at::Tensor weight;   // fp32, bf16 or fp64
  at::Tensor master;   // fp32; undefined: the weight is its own master, and must be fp32 or fp64
  at::Tensor moment1;  // type of the master
  at::Tensor moment2;
  QuantizedView quantized_gradient;  // codes null: `gradient` is used
  at::Tensor gradient;               // fp32 or fp64, 1-D or 2-D with contiguous rows
  double learning_rate = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // decoupled
  double clip_factor = 1.0;   // multiplies the gradient
  std::int64_t step = 1;      // of this update, from 1
};

// As torch.optim.AdamW, in one pass, in the type of the master: w -= lr*wd*w; m, v updated;
// w -= lr/(1-beta1^step) * m / (sqrt(v)/sqrt(1-beta2^step) + epsilon). A bf16 weight is the master
// rounded to nearest even. No ATen allocation; the result does not depend on the number of threads.
// Throws std::invalid_argument for types, layouts, sizes or a step that do not fit.
void AdamStep(const AdamArgs& args);

}  // namespace agoq::ops
