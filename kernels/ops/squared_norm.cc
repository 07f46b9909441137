#include "kernels/ops/squared_norm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/rows_of.h"
#include "kernels/ref/squared_norm.h"

namespace agoq::ops {
namespace {

template <class View>
double SumOverChunks(const View& view, std::int64_t num_elements) {
  const std::int64_t num_chunks = (num_elements + ref::kNormChunk - 1) / ref::kNormChunk;
  std::vector<double> partial(static_cast<std::size_t>(num_chunks));
  at::parallel_for(0, num_chunks, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * ref::kNormChunk;
      partial[i] = ref::SumOfSquares(view, first, std::min(first + ref::kNormChunk, num_elements));
    }
  });
  double sum = 0.0;
  for (const double chunk : partial) sum += chunk;
  return sum;
}

}  // namespace

double SquaredNorm(const at::Tensor& x) {
  const ref::RowsView rows = RowsOf(x, "squared norm: x");
  return SumOverChunks(rows, rows.num_elements());
}

double SquaredNorm(const QuantizedView& packed) {
  RequireElements(packed, packed.num_elements, "squared norm: packed");
  return SumOverChunks(packed, packed.num_elements);
}

}  // namespace agoq::ops
