#include "kernels/ref/squared_norm.h"

#include <algorithm>

#include "kernels/quant_spec.h"
#include "kernels/ref/block_view.h"
#include "kernels/ref/codec_loops.h"
#include "kernels/ref/convert_loops.h"
#include "kernels/ref/squared_norm_loops.h"

namespace agoq::ref {

double SumOfSquares(const RowsView& x, std::int64_t begin, std::int64_t end, LoopVariant variant) {
  const SquaredNormLoops& loops = LoopsOf<SquaredNormLoops>(variant);
  const ConvertLoops& convert = LoopsOf<ConvertLoops>(variant);
  float floats[kMaxBlock];
  double doubles[kMaxBlock];
  double sum = 0.0;
  for (std::int64_t first = begin; first < end; first += kMaxBlock) {
    const std::int64_t n = std::min(kMaxBlock, end - first);
    if (x.type == ElementType::kFloat64) {
      ReadElements(x, first, n, convert, doubles);
      sum += loops.of_doubles(doubles, n);
    } else {
      sum += loops.of_floats(FloatsOf(x, first, n, convert, floats), n);
    }
  }
  return sum;
}

double SumOfSquares(const QuantizedView& packed, std::int64_t begin, std::int64_t end,
                    LoopVariant variant) {
  const SquaredNormLoops& loops = LoopsOf<SquaredNormLoops>(variant);
  const CodecLoops& codec = LoopsOf<CodecLoops>(variant);
  float values[kMaxBlock];
  double sum = 0.0;
  for (std::int64_t first = begin; first < end; first += packed.spec.block) {
    const BlockView block = BlockOf(packed, first / packed.spec.block);
    codec.decode(packed.spec.format, block.codes, block.num_elements, *block.scale, values);
    sum += loops.of_floats(values, block.num_elements);
  }
  return sum;
}

}  // namespace agoq::ref
