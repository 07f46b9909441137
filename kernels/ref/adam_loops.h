// Hot loop of AdamW.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"

namespace agoq::ref {

// Constants of one update in the arithmetic type.
template <class T>
struct AdamConstants {
  T decay;             // 1 - learning rate * weight decay
  T beta1;             // of the first moment
  T one_minus_beta1;   // rounded from double
  T beta2;             // of the second moment
  T one_minus_beta2;   // rounded from double
  T step_size;         // learning rate / (1 - beta1^step)
  T root_correction2;  // sqrt(1 - beta2^step)
  T epsilon;           // added to the root
  T clip_factor;       // multiplies the gradient
};

template <class T>
struct AdamRun {
  T* weight;
  T* moment1;
  T* moment2;
  const T* gradient;
  std::int64_t n;
};

struct AdamLoops {
  void (*in_float)(const AdamRun<float>& run, const AdamConstants<float>& constants);
  void (*in_double)(const AdamRun<double>& run, const AdamConstants<double>& constants);
};

template <>
const AdamLoops& TableOf<AdamLoops, LoopVariant::kBaseline>();
template <>
const AdamLoops& TableOf<AdamLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
