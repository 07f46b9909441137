// Stores a tensor in few bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/ops/packed_tensor.h"
#include "kernels/quant_spec.h"
#include "kernels/ref/non_finite.h"

namespace agoq::ops {

// x: fp32, bf16 or fp64 (rounded to fp32 first), 1-D or 2-D, last dim contiguous; a 2-D x may be a
// view with a row stride. Blocks run over the row-major elements. A block with a NaN or infinity
// gets a NaN scale and zero codes, and is merged into *record under tensor_id (record may be null).
// Two ATen allocations: codes and scales. The result does not depend on the number of threads.
// Throws std::invalid_argument for another type, layout or a block that is not a power of two
// of 32..2048.
PackedTensor Quantize(const at::Tensor& x, const QuantSpec& spec, std::int32_t tensor_id,
                      NonFinite* record);

}  // namespace agoq::ops
