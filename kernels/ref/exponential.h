// Exponentials for loop files (element.h says why the linkage is internal).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace agoq::ref {

// e^x for x of at most zero, within 2 units in the last place; zero where that is below the normal
// range; NaN for NaN. Written without branches, so that the compiler vectorises loops of it.
//
// x = k ln 2 + r with |r| <= ln 2 / 2, e^r = 1 + r + r^2 q(r): q interpolates at the five Chebyshev
// nodes of that range, relative error 1e-8.
[[gnu::always_inline]] static inline float ExpOfNonPositive(float x) {
  constexpr float kLowest = -87.33654f;  // ln of the smallest normal number
  constexpr float kInverseLn2 = 0x1.715476p+0f;
  constexpr float kRoundingMagic = 0x1.8p23f;  // adding it rounds to an integer, half to even
  constexpr float kLn2High = 0x1.62ep-1f;      // 12 bits: its product with k is exact
  constexpr float kLn2Low = 3.194618329871446e-05f;
  const float bounded = x < kLowest ? kLowest : x;
  const float shifted = bounded * kInverseLn2 + kRoundingMagic;
  const float k = shifted - kRoundingMagic;
  const float r = (bounded - k * kLn2High) - k * kLn2Low;
  float q = 0.0013926250394433737f;
  q = q * r + 0.00836323294788599f;
  q = q * r + 0.04166655242443085f;
  q = q * r + 0.16666576266288757f;
  q = q * r + 0.5f;
  const float power_of_r = (q * r) * r + r + 1.0f;
  // The low bits of `shifted` hold k: moved to the exponent, and 1.0f's added, they are 2^k.
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u;
  return x < kLowest ? 0.0f : power_of_r * std::bit_cast<float>(bits);
}

[[gnu::always_inline]] static inline double ExpOfNonPositive(double x) { return std::exp(x); }

// 1 / (1 + e^-x), without overflow on either side.
template <class A>
[[gnu::always_inline]] static inline A Sigmoid(A x) {
  const A power = ExpOfNonPositive(-std::fabs(x));
  return (x >= A(0) ? A(1) : power) / (A(1) + power);
}

}  // namespace agoq::ref
