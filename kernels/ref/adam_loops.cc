#include "kernels/ref/adam_loops.h"

namespace agoq::ref {
namespace {

float SquareRoot(float x) { return __builtin_sqrtf(x); }
double SquareRoot(double x) { return __builtin_sqrt(x); }

template <class T>
void Update(const AdamRun<T>& run, const AdamConstants<T>& constants) {
  const AdamConstants<T> c = constants;
  T* __restrict weight = run.weight;
  T* __restrict moment1 = run.moment1;
  T* __restrict moment2 = run.moment2;
  const T* __restrict gradient = run.gradient;
  const std::int64_t n = run.n;
  for (std::int64_t i = 0; i < n; ++i) {
    const T g = gradient[i] * c.clip_factor;
    const T m = moment1[i] * c.beta1 + g * c.one_minus_beta1;
    const T v = moment2[i] * c.beta2 + (g * g) * c.one_minus_beta2;
    moment1[i] = m;
    moment2[i] = v;
    const T denominator = SquareRoot(v) / c.root_correction2 + c.epsilon;
    weight[i] = weight[i] * c.decay - c.step_size * (m / denominator);
  }
}

}  // namespace

template <>
const AdamLoops& TableOf<AdamLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr AdamLoops kTable{.in_float = Update<float>, .in_double = Update<double>};
  return kTable;
}

}  // namespace agoq::ref
