// Hot loops of the cross-entropy.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct CrossEntropyRows {
  RowsView logits_TV;                       // at least one column
  const std::int64_t* targets_T = nullptr;  // columns, or ignore_index
  std::int64_t ignore_index = 0;
  double scale = 0.0;  // of the gradient
};

// Rows [begin, end): loss_T[row] is the row's loss, 0 for one that is ignored. Sums run in double,
// in interleaved partial sums that are added in order.
struct CrossEntropyLoops {
  void (*loss)(const CrossEntropyRows& rows, std::int64_t begin, std::int64_t end, double* loss_T);
  // The logits become their gradient.
  void (*loss_and_gradient)(const CrossEntropyRows& rows, std::int64_t begin, std::int64_t end,
                            double* loss_T);
};

template <>
const CrossEntropyLoops& TableOf<CrossEntropyLoops, LoopVariant::kBaseline>();
template <>
const CrossEntropyLoops& TableOf<CrossEntropyLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
