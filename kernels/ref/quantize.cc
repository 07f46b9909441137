#include "kernels/ref/quantize.h"

#include <cmath>

namespace agoq::ref {

NonFinite StoreBlock(const float* x, std::int64_t index, std::int32_t tensor_id,
                     const BlockLoops& loops, const QuantizedView& out) {
  const BlockView block = BlockOf(out, index);
  *block.scale = loops.codec.encode(out.spec.format, x, block.num_elements, block.codes);
  if (!std::isnan(*block.scale)) return {};
  return {.tensor_id = tensor_id,
          .first_block = index,
          .count = loops.convert.count_non_finite(x, block.num_elements)};
}

NonFinite QuantizeBlocks(const RowsView& x, BlockRange range, std::int32_t tensor_id,
                         const QuantizedView& out, LoopVariant variant) {
  const BlockLoops loops = BlockLoops::Of(variant);
  float buffer[kMaxBlock];
  NonFinite seen;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const BlockView block = BlockOf(out, i);
    const float* values = FloatsOf(x, block.first, block.num_elements, loops.convert, buffer);
    seen.Merge(StoreBlock(values, i, tensor_id, loops, out));
  }
  return seen;
}

}  // namespace agoq::ref
