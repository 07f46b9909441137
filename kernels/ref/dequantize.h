// Restores stored elements; see kernels/ops/dequantize.h for the contract.
#pragma once

#include "kernels/ref/block_view.h"
#include "kernels/ref/loop_variant.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

// Elements of the blocks of `range`. packed and out have the same number of elements.
void DequantizeBlocks(const QuantizedView& packed, BlockRange range, const RowsView& out,
                      LoopVariant variant = BestVariant());

}  // namespace agoq::ref
