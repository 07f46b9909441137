// Hot loop of the embedding's gradient.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct EmbeddingGradientRows {
  const std::int64_t* ids_T = nullptr;  // each names a row of grad_table_VD
  RowsView grad_TD;
  RowsView grad_table_VD;  // added to; fp64 for fp64 gradients, else fp32
};

// All rows, in order, of the columns [begin, end).
struct EmbeddingLoops {
  void (*add_columns)(const EmbeddingGradientRows& rows, std::int64_t begin, std::int64_t end);
};

template <>
const EmbeddingLoops& TableOf<EmbeddingLoops, LoopVariant::kBaseline>();
template <>
const EmbeddingLoops& TableOf<EmbeddingLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
