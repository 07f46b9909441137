// Exact sums of gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ref/gradient_mode.h"

namespace agoq::ops {

struct AccumulateArgs {
  at::Tensor sum;     // fp32 or fp64
  at::Tensor addend;  // as many elements; fp32, bf16 or fp64
  GradientMode mode = GradientMode::kWrite;
};

// sum = addend, or sum + addend in sum's type. Both 1-D or 2-D with contiguous rows. No ATen
// allocation. Throws std::invalid_argument for other types, layouts or sizes.
void Accumulate(const AccumulateArgs& args);

}  // namespace agoq::ops
