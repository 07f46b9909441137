// Root-mean-square norm.
// Shapes: T tokens, D elements of a token.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct RmsNormArgs {
  at::Tensor x_TD;
  at::Tensor weight_D;
  double epsilon = 1e-5;
  at::Tensor out_TD;
};

// out = x / sqrt(mean(x^2) + epsilon) * weight.
void RmsNorm(const RmsNormArgs& args);

struct RmsNormBackwardArgs {
  at::Tensor x_TD;
  at::Tensor weight_D;
  double epsilon = 1e-5;
  at::Tensor grad_out_TD;
  at::Tensor grad_x_TD;      // added to
  at::Tensor grad_weight_D;  // overwritten; fp32, or fp64 for fp64
};

void RmsNormBackward(const RmsNormBackwardArgs& args);

}  // namespace agoq::ops
