#include "kernels/ref/reduce_quantized.h"

#include "kernels/ref/quantize.h"

namespace agoq::ref {

void ReduceBlocks(const ReduceBlocksArgs& args, BlockRange range) {
  const BlockLoops loops = BlockLoops::Of(args.variant);
  const Format format = args.out.spec.format;
  float sum[kMaxBlock];
  float buffer[kMaxBlock];
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const BlockView first = BlockOf(args.payloads.front(), i);
    const std::int64_t n = first.num_elements;
    loops.codec.decode(format, first.codes, n, *first.scale, sum);
    for (const QuantizedView& payload : args.payloads.subspan(1)) {
      const BlockView block = BlockOf(payload, i);
      loops.codec.decode(format, block.codes, n, *block.scale, buffer);
      loops.convert.add(buffer, n, sum);
    }
    loops.convert.multiply(args.factor, n, sum);
    StoreBlock(sum, i, -1, loops, args.out);
  }
}

}  // namespace agoq::ref
