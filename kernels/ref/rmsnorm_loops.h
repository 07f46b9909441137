// Hot loops of the root-mean-square norm.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

// All of one type; the weight has x_TD.columns elements.
struct RmsNormRows {
  RowsView x_TD;
  const void* weight_D = nullptr;
  double epsilon = 0.0;
  RowsView out_TD;
};

struct RmsNormGradientRows {
  RowsView x_TD;
  const void* weight_D = nullptr;
  double epsilon = 0.0;
  RowsView grad_out_TD;
  RowsView grad_x_TD;  // added to; overlaps no other
};

// Rows [begin, end). Sums run in interleaved partial sums that are added in order.
struct RmsNormLoops {
  void (*forward)(const RmsNormRows& rows, std::int64_t begin, std::int64_t end);
  // Adds the weight's gradient to grad_weight_D: doubles for fp64 rows, else floats.
  void (*backward)(const RmsNormGradientRows& rows, std::int64_t begin, std::int64_t end,
                   void* grad_weight_D);
};

template <>
const RmsNormLoops& TableOf<RmsNormLoops, LoopVariant::kBaseline>();
template <>
const RmsNormLoops& TableOf<RmsNormLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
