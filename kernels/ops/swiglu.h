// Gated unit.
// Shapes: T tokens, F elements of a token.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct SwiGluArgs {
  at::Tensor gate_TF;
  at::Tensor up_TF;
  at::Tensor out_TF;
};

// out = silu(gate) * up.
void SwiGlu(const SwiGluArgs& args);

struct SwiGluBackwardArgs {
  at::Tensor gate_TF;
  at::Tensor up_TF;
  at::Tensor product_TF;    // in: gradient of the product; out: the product again
  at::Tensor grad_gate_TF;  // may be gate_TF
  at::Tensor grad_up_TF;    // may be up_TF
};

void SwiGluBackward(const SwiGluBackwardArgs& args);

}  // namespace agoq::ops
