// A plain tensor, checked and seen as rows; and the check of packed storage.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "kernels/quant_spec.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ops {

// tensor: on the CPU, fp32, bf16 or fp64, and contiguous, or 2-D with contiguous rows that do not
// overlap. Else std::invalid_argument that starts with `name`, as in "quantize: x".
ref::RowsView RowsOf(const at::Tensor& tensor, std::string_view name);

// std::invalid_argument for a block that is not a power of two of 32..2048.
void RequireValidSpec(const QuantSpec& spec, std::string_view name);

// std::invalid_argument unless `view` is valid and holds num_elements.
void RequireElements(const QuantizedView& view, std::int64_t num_elements, std::string_view name);

// Blocks a thread takes at least: small tensors run inline.
constexpr std::int64_t GrainBlocks(const QuantSpec& spec) { return 32768 / spec.block; }

}  // namespace agoq::ops
