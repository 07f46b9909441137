// Hot loop of the rotary position embedding.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct RopeRows {
  RowsView in_TE;
  RowsView out_TE;                            // of in_TE's type and size; may be in_TE
  const std::int64_t* positions_T = nullptr;  // each names a row of the table
  const void* cos = nullptr;  // [positions, head_size / 2]; doubles for fp64 rows, else floats
  const void* sin = nullptr;
  std::int64_t head_size = 0;
  bool backward = false;  // rotates the other way
};

// Rows [begin, end).
struct RopeLoops {
  void (*rotate)(const RopeRows& rows, std::int64_t begin, std::int64_t end);
};

template <>
const RopeLoops& TableOf<RopeLoops, LoopVariant::kBaseline>();
template <>
const RopeLoops& TableOf<RopeLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
