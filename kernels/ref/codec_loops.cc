#include "kernels/ref/codec_loops.h"

#include <bit>
#include <cstring>
#include <limits>

#include "kernels/ref/code_book.h"

namespace agoq::ref {
namespace {

constexpr std::int32_t kMagnitudeMask = 0x7fffffff;
constexpr std::int32_t kInfinityBits = 0x7f800000;
constexpr float kLift = 0x1p100f;  // keeps 1 / scale finite
constexpr float kLiftBelow = 0x1p-100f;
constexpr float kRoundingMagic = 0x1.8p23f;  // adding it rounds to an integer, half to even
constexpr std::int32_t kRoundingMagicBits = 0x4b400000;

// Bits of the largest magnitude: as integers they order as the magnitudes do, with infinity and
// then NaN on top.
std::int32_t MaxMagnitudeBits(const float* x, std::int64_t n) {
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t bits = std::bit_cast<std::int32_t>(x[i]) & kMagnitudeMask;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

// |y| is at most 1 + 2^-21, so that the clamp to +-127 never acts: 127 * (1 + 2^-21) rounds to 127.
void EncodeInt8(const float* x, std::int64_t n, float lift, float inverse, std::uint8_t* codes) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float y = (x[i] * lift) * inverse;
    const float rounded = y * kInt8Max + kRoundingMagic;
    codes[i] = static_cast<std::uint8_t>(std::bit_cast<std::int32_t>(rounded) - kRoundingMagicBits);
  }
}

// The compiler's portable vectors, one register wide: wider ones fall back to scalars.
#ifdef __AVX2__
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int32_t Ints __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

// index[i] = number of mid-points below y. A comparison gives -1 where it holds.
void FindNf4(const float* x, std::int64_t n, float lift, float inverse, std::int32_t* index) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Floats y;
    std::memcpy(&y, x + i, sizeof(y));
    y = (y * lift) * inverse;
    Ints below{};
    for (int k = 0; k < 15; ++k) below -= y > kNf4MidPoints[k];
    std::memcpy(index + i, &below, sizeof(below));
  }
  for (; i < n; ++i) {
    const float y = (x[i] * lift) * inverse;
    index[i] = 0;
    for (const float mid : kNf4MidPoints) index[i] += y > mid ? 1 : 0;
  }
}

void EncodeNf4(const float* x, std::int64_t n, float lift, float inverse, std::uint8_t* codes) {
  std::int32_t index[kMaxBlock];
  FindNf4(x, n, lift, inverse, index);
  const std::int64_t pairs = n / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    codes[i] = static_cast<std::uint8_t>(index[2 * i] | (index[2 * i + 1] << 4));
  }
  if (n % 2 != 0) codes[pairs] = static_cast<std::uint8_t>(index[n - 1]);
}

float Encode(Format format, const float* x, std::int64_t n, std::uint8_t* codes) {
  const std::int32_t largest = MaxMagnitudeBits(x, n);
  const QuantSpec spec{.format = format};
  if (largest >= kInfinityBits) {
    std::memset(codes, 0, static_cast<std::size_t>(CodeBytes(spec, n)));
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float scale = std::bit_cast<float>(largest);
  const float lift = scale < kLiftBelow ? kLift : 1.0f;
  // A zero block takes inverse 0: every y is 0 and gets the code of 0.
  const float inverse = largest == 0 ? 0.0f : 1.0f / (scale * lift);
  if (format == Format::kInt8) {
    EncodeInt8(x, n, lift, inverse, codes);
  } else {
    EncodeNf4(x, n, lift, inverse, codes);
  }
  return scale;
}

void DecodeInt8(const std::uint8_t* codes, std::int64_t n, float scale, float* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = scale * (static_cast<float>(static_cast<std::int8_t>(codes[i])) * kInt8Step);
  }
}

void DecodeNf4(const std::uint8_t* codes, std::int64_t n, float scale, float* x) {
  float value[16];
  for (int k = 0; k < 16; ++k) value[k] = scale * kNf4Book[k];
  const std::int64_t pairs = n / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    x[2 * i] = value[codes[i] & 15];
    x[2 * i + 1] = value[codes[i] >> 4];
  }
  if (n % 2 != 0) x[n - 1] = value[codes[pairs] & 15];
}

void Decode(Format format, const std::uint8_t* codes, std::int64_t n, float scale, float* x) {
  if (format == Format::kInt8) {
    DecodeInt8(codes, n, scale, x);
  } else {
    DecodeNf4(codes, n, scale, x);
  }
}

}  // namespace

template <>
const CodecLoops& TableOf<CodecLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr CodecLoops kTable{.encode = Encode, .decode = Decode};
  return kTable;
}

}  // namespace agoq::ref
