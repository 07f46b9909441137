#include "kernels/ref/loop_variant.h"

namespace agoq::ref {

bool IsAvailable(LoopVariant variant) {
#ifdef AGOQ_AVX2_LOOPS
  if (variant == LoopVariant::kAvx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return variant == LoopVariant::kBaseline;
}

LoopVariant BestVariant() {
  static const LoopVariant best =
      IsAvailable(LoopVariant::kAvx2) ? LoopVariant::kAvx2 : LoopVariant::kBaseline;
  return best;
}

}  // namespace agoq::ref
