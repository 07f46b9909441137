// Sum of squares, for the global norm.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ref/quantized_view.h"

namespace agoq::ops {

// In double, over fixed chunks summed in order, so that it does not depend on the number of
// threads. NaN and infinity propagate. x: fp32, bf16 or fp64, 1-D or 2-D with contiguous rows; else
// std::invalid_argument.
double SquaredNorm(const at::Tensor& x);
double SquaredNorm(const QuantizedView& packed);

}  // namespace agoq::ops
