// Hot loop of the sum of squares.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"

namespace agoq::ref {

// In double, in 16 interleaved partial sums that are added in order.
struct SquaredNormLoops {
  double (*of_floats)(const float* x, std::int64_t n);
  double (*of_doubles)(const double* x, std::int64_t n);
};

template <>
const SquaredNormLoops& TableOf<SquaredNormLoops, LoopVariant::kBaseline>();
template <>
const SquaredNormLoops& TableOf<SquaredNormLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
