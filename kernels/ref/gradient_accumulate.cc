#include "kernels/ref/gradient_accumulate.h"

#include "kernels/ref/quantize.h"

namespace agoq::ref {

NonFinite AccumulateBlocks(const AccumulateBlocksArgs& args, BlockRange range) {
  const QuantizedView& store = args.store;
  if (args.mode == GradientMode::kWrite) {
    return QuantizeBlocks(args.gradient, range, args.tensor_id, store, args.variant);
  }
  const BlockLoops loops = BlockLoops::Of(args.variant);
  float buffer[kMaxBlock];
  float sum[kMaxBlock];
  NonFinite seen;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const BlockView block = BlockOf(store, i);
    const std::int64_t n = block.num_elements;
    loops.codec.decode(store.spec.format, block.codes, n, *block.scale, sum);
    loops.convert.add(FloatsOf(args.gradient, block.first, n, loops.convert, buffer), n, sum);
    seen.Merge(StoreBlock(sum, i, args.tensor_id, loops, store));
  }
  return seen;
}

}  // namespace agoq::ref
