#include "kernels/ref/dequantize.h"

#include "kernels/ref/codec_loops.h"

namespace agoq::ref {

void DequantizeBlocks(const QuantizedView& packed, BlockRange range, const RowsView& out,
                      LoopVariant variant) {
  const CodecLoops& codec = LoopsOf<CodecLoops>(variant);
  const ConvertLoops& convert = LoopsOf<ConvertLoops>(variant);
  const Format format = packed.spec.format;
  float buffer[kMaxBlock];
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const BlockView block = BlockOf(packed, i);
    const std::int64_t n = block.num_elements;
    if (float* direct = DirectFloats(out, block.first, n)) {
      codec.decode(format, block.codes, n, *block.scale, direct);
      continue;
    }
    codec.decode(format, block.codes, n, *block.scale, buffer);
    WriteElements(buffer, block.first, n, convert, out);
  }
}

}  // namespace agoq::ref
