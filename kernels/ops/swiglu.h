// Gated unit, and its gradients.
// Shapes: T tokens, F elements of a token.
//
// Tensors are on the CPU, [T, F], of one type of fp32, bf16 (computed in fp32, rounded once) and
// fp64 (computed in fp64), and may be strided from row to row, as the two halves of a [T, 2F]
// tensor are. Both ops throw std::invalid_argument, before anything is written, for another type,
// size or layout. No ATen allocation. Results do not depend on the number of threads.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct SwiGluArgs {
  at::Tensor gate_TF;
  at::Tensor up_TF;
  at::Tensor out_TF;  // may be gate_TF or up_TF
};

// out = silu(gate) * up, silu(x) = x / (1 + exp(-x)).
void SwiGlu(const SwiGluArgs& args);

struct SwiGluBackwardArgs {
  at::Tensor gate_TF;
  at::Tensor up_TF;
  at::Tensor product_TF;    // in: gradient of the product; out: the product again
  at::Tensor grad_gate_TF;  // overwritten; may be gate_TF
  at::Tensor grad_up_TF;    // overwritten; may be up_TF
};

void SwiGluBackward(const SwiGluBackwardArgs& args);

}  // namespace agoq::ops
