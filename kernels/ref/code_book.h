// What each code stands for, as a share of its block's scale.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/quant_spec.h"

namespace agoq::ref {

// NF4 of QLoRA (arXiv 2305.14314, appendix E), in fp32.
inline constexpr std::array<float, 16> kNf4Book = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};
inline constexpr std::uint8_t kNf4Zero = 7;  // index of 0

// Above mid-point i the nearest entry is i + 1 or a later one; on it, i.
inline constexpr std::array<float, 15> kNf4MidPoints = [] {
  std::array<float, 15> mid{};
  for (std::size_t i = 0; i < mid.size(); ++i) mid[i] = (kNf4Book[i] + kNf4Book[i + 1]) / 2.0f;
  return mid;
}();

inline constexpr float kInt8Max = 127.0f;
inline constexpr float kInt8Step = 1.0f / kInt8Max;  // 127 * kInt8Step is exactly 1 in fp32

// code: the byte of an int8 element, the nibble of an nf4 element.
constexpr float BookValue(Format format, std::uint8_t code) {
  if (format == Format::kNf4) return kNf4Book[code & 15];
  return static_cast<float>(static_cast<std::int8_t>(code)) * kInt8Step;
}
static_assert(BookValue(Format::kInt8, 127) == 1.0f);

}  // namespace agoq::ref
