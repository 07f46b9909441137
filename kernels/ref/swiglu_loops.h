// Hot loops of the gated unit.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

// All of one type and size.
struct SwiGluRows {
  RowsView gate_TF;
  RowsView up_TF;
  RowsView out_TF;  // may be gate_TF or up_TF
};

struct SwiGluGradientRows {
  RowsView gate_TF;
  RowsView up_TF;
  RowsView product_TF;    // in: its gradient; out: the product
  RowsView grad_gate_TF;  // may be gate_TF
  RowsView grad_up_TF;    // may be up_TF
};

// Rows [begin, end).
struct SwiGluLoops {
  void (*forward)(const SwiGluRows& rows, std::int64_t begin, std::int64_t end);
  void (*backward)(const SwiGluGradientRows& rows, std::int64_t begin, std::int64_t end);
};

template <>
const SwiGluLoops& TableOf<SwiGluLoops, LoopVariant::kBaseline>();
template <>
const SwiGluLoops& TableOf<SwiGluLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
