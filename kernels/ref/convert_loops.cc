#include "kernels/ref/convert_loops.h"

#include <bit>

namespace agoq::ref {
namespace {

void BfloatToFloat(const std::uint16_t* x, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
  }
}

void DoubleToFloat(const double* x, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(x[i]);
}

void FloatToDouble(const float* x, std::int64_t n, double* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<double>(x[i]);
}

void FloatToBfloat(const float* x, std::int64_t n, std::uint16_t* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]);
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const bool is_nan = static_cast<std::int32_t>(bits & 0x7fffffffu) > 0x7f800000;
    out[i] = static_cast<std::uint16_t>((is_nan ? (bits | 0x400000u) : rounded) >> 16);
  }
}

void Add(const float* x, std::int64_t n, float* sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

void Multiply(float factor, std::int64_t n, float* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}

std::int64_t CountNonFinite(const float* x, std::int64_t n) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    count += (std::bit_cast<std::uint32_t>(x[i]) & 0x7f800000u) == 0x7f800000u ? 1 : 0;
  }
  return count;
}

}  // namespace

template <>
const ConvertLoops& TableOf<ConvertLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr ConvertLoops kTable{.bfloat16_to_float = BfloatToFloat,
                                       .double_to_float = DoubleToFloat,
                                       .float_to_double = FloatToDouble,
                                       .float_to_bfloat16 = FloatToBfloat,
                                       .add = Add,
                                       .multiply = Multiply,
                                       .count_non_finite = CountNonFinite};
  return kTable;
}

}  // namespace agoq::ref
