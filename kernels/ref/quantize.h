// Stores elements in few bits; see kernels/ops/quantize.h for the contract.
#pragma once

#include <cstdint>

#include "kernels/ref/block_view.h"
#include "kernels/ref/codec_loops.h"
#include "kernels/ref/convert_loops.h"
#include "kernels/ref/loop_variant.h"
#include "kernels/ref/non_finite.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

// Both tables of one variant.
struct BlockLoops {
  const CodecLoops& codec;
  const ConvertLoops& convert;

  static BlockLoops Of(LoopVariant variant) {
    return {LoopsOf<CodecLoops>(variant), LoopsOf<ConvertLoops>(variant)};
  }
};

// Stores x, floats of block `index`, and returns what was not finite, under tensor_id.
NonFinite StoreBlock(const float* x, std::int64_t index, std::int32_t tensor_id,
                     const BlockLoops& loops, const QuantizedView& out);

// Blocks of `range` of out = x. x and out have the same number of elements.
NonFinite QuantizeBlocks(const RowsView& x, BlockRange range, std::int32_t tensor_id,
                         const QuantizedView& out, LoopVariant variant = BestVariant());

}  // namespace agoq::ref
