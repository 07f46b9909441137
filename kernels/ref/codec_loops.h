// Hot loops that encode and decode one block.
#pragma once

#include <cstdint>

#include "kernels/quant_spec.h"
#include "kernels/ref/loop_variant.h"

namespace agoq::ref {

struct CodecLoops {
  // Stores x[0..n), n of 1..kMaxBlock, as one block in CodeBytes(n) bytes and returns its scale,
  // the largest magnitude. With a NaN or infinity in x: a quiet NaN, and zero bytes.
  float (*encode)(Format format, const float* x, std::int64_t n, std::uint8_t* codes);
  // x[i] = scale * book[code i]; NaN for a NaN scale.
  void (*decode)(Format format, const std::uint8_t* codes, std::int64_t n, float scale, float* x);
};

template <>
const CodecLoops& TableOf<CodecLoops, LoopVariant::kBaseline>();
template <>
const CodecLoops& TableOf<CodecLoops, LoopVariant::kAvx2>();

}  // namespace agoq::ref
