// Sum of squares of a range of elements, in double.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

// A whole tensor is summed in chunks of this many elements, so that the result does not depend on
// who sums which; a multiple of every block.
inline constexpr std::int64_t kNormChunk = 16384;

// Elements [begin, end); begin is a multiple of kMaxBlock.
double SumOfSquares(const RowsView& x, std::int64_t begin, std::int64_t end,
                    LoopVariant variant = BestVariant());
double SumOfSquares(const QuantizedView& packed, std::int64_t begin, std::int64_t end,
                    LoopVariant variant = BestVariant());

}  // namespace agoq::ref
