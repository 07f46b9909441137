// Root-mean-square norm, and its gradients.
// Shapes: T tokens, D elements of a token.
//
// Tensors are on the CPU, of one type of fp32, bf16 (computed in fp32, rounded once) and fp64
// (computed in fp64); 2-D ones may be strided from row to row. Both ops throw
// std::invalid_argument, before anything is written, for another type, size or layout and for an
// epsilon that is negative or not finite. No ATen allocation. Results do not depend on the number
// of threads.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct RmsNormArgs {
  at::Tensor x_TD;
  at::Tensor weight_D;  // contiguous
  double epsilon = 1e-5;
  at::Tensor out_TD;  // may be x_TD
};

// out = x / sqrt(mean(x^2) + epsilon) * weight, the mean over a token's elements.
void RmsNorm(const RmsNormArgs& args);

struct RmsNormBackwardArgs {
  at::Tensor x_TD;
  at::Tensor weight_D;  // contiguous
  double epsilon = 1e-5;
  at::Tensor grad_out_TD;
  at::Tensor grad_x_TD;      // added to; overlaps no other
  at::Tensor grad_weight_D;  // overwritten; contiguous, fp32, or fp64 for fp64
};

// The norm's statistics are computed again from x. With no token, grad_weight is zero.
void RmsNormBackward(const RmsNormBackwardArgs& args);

}  // namespace agoq::ops
