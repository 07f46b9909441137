// Restores a stored tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/packed_tensor.h"
#include "kernels/ref/quantized_view.h"

namespace agoq::ops {

// out: fp32, bf16 (rounded to nearest even) or fp64, 1-D or 2-D with contiguous rows, as many
// elements as were stored. A block with a NaN scale gives NaN. Throws std::invalid_argument for
// another type, layout or number of elements.
void Dequantize(const QuantizedView& packed, const at::Tensor& out);
void Dequantize(const PackedTensor& packed, const at::Tensor& out);

// A new tensor of the stored sizes: the one allocation.
at::Tensor Dequantize(const PackedTensor& packed, at::ScalarType type);

}  // namespace agoq::ops
