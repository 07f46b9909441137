// Adds a weight gradient to its packed store.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/ref/gradient_mode.h"
#include "kernels/ref/non_finite.h"
#include "kernels/ref/quantized_view.h"

namespace agoq::ops {

struct GradientAccumulateArgs {
  QuantizedView store;
  at::Tensor gradient;  // as many elements as the store; fp32, bf16 or fp64, 1-D or 2-D with
                        // contiguous rows
  GradientMode mode = GradientMode::kWrite;
  std::int32_t tensor_id = -1;
  NonFinite* record = nullptr;  // may be null; merged into
};

// store = gradient, or store + gradient added in fp32; scales are new. A block whose new value has
// a NaN or infinity gets a NaN scale, stays NaN under kAdd, and is recorded each time. No ATen
// allocation; the result does not depend on the number of threads. Throws std::invalid_argument for
// a type, layout, size or block that does not fit.
void GradientAccumulate(const GradientAccumulateArgs& args);

}  // namespace agoq::ops
