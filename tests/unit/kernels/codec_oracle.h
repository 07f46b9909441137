// The stored form written as plainly as can be, one element at a time; shares nothing with the
// kernels but the formats' names.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/quant_spec.h"

namespace agoq::test {

inline const std::vector<float>& Nf4Values() {
  static const std::vector<float> values = {-1.0f,        -0.69619280f, -0.52507305f,  -0.39491749f,
                                            -0.28444138f, -0.18477343f, -0.091050036f, 0.0f,
                                            0.079580300f, 0.16093020f,  0.24611230f,   0.33791524f,
                                            0.44070983f,  0.56261700f,  0.72295684f,   1.0f};
  return values;
}

struct OracleBlock {
  float scale = 0.0f;
  std::vector<int> codes;
  std::vector<float> decoded;
};

inline int NearestNf4(float y) {
  const std::vector<float>& values = Nf4Values();
  int index = 0;
  while (index < 15 && y > (values[index] + values[index + 1]) / 2.0f) ++index;
  return index;
}

// Finite values of one block.
inline OracleBlock StoreByHand(Format format, const std::vector<float>& x) {
  OracleBlock block;
  for (const float value : x) block.scale = std::max(block.scale, std::fabs(value));
  const float lift = block.scale < std::ldexp(1.0f, -100) ? std::ldexp(1.0f, 100) : 1.0f;
  const volatile float inverse = 1.0f / (block.scale * lift);
  for (const float value : x) {
    const volatile float y = block.scale == 0.0f ? 0.0f : value * lift * inverse;
    if (format == Format::kNf4) {
      block.codes.push_back(NearestNf4(y));
      block.decoded.push_back(block.scale * Nf4Values()[block.codes.back()]);
      continue;
    }
    const volatile float scaled = y * 127.0f;
    const float code = std::clamp(std::nearbyint(scaled), -127.0f, 127.0f);
    block.codes.push_back(static_cast<int>(code));
    const volatile float book = code * (1.0f / 127.0f);
    block.decoded.push_back(block.scale * book);
  }
  return block;
}

// Code of element i of packed storage.
inline int CodeAt(Format format, const std::uint8_t* codes, std::int64_t i) {
  if (format == Format::kInt8) return static_cast<std::int8_t>(codes[i]);
  return i % 2 == 0 ? codes[i / 2] & 15 : codes[i / 2] >> 4;
}

}  // namespace agoq::test
