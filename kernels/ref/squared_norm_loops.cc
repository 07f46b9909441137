#include "kernels/ref/squared_norm_loops.h"

namespace agoq::ref {
namespace {

constexpr int kLanes = 16;

template <class T>
double SumOfSquares(const T* x, std::int64_t n) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      const auto value = static_cast<double>(x[i + k]);
      lanes[k] += value * value;
    }
  }
  for (int k = 0; i < n; ++i, ++k) {
    const auto value = static_cast<double>(x[i]);
    lanes[k] += value * value;
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

template <>
const SquaredNormLoops& TableOf<SquaredNormLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr SquaredNormLoops kTable{.of_floats = SumOfSquares<float>,
                                           .of_doubles = SumOfSquares<double>};
  return kTable;
}

}  // namespace agoq::ref
