// How a tensor is stored in few bits: format, block, rounding, and the sizes that follow. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace agoq {

// Code books are those of `kernels/ref/code_book.h`.
enum class Format : std::uint8_t {
  kInt8,  // symmetric integers -127..127, two's complement bytes
  kNf4,   // 16 quantiles of the normal distribution, indices in sorted order
};

inline constexpr Format kAllFormats[] = {Format::kInt8, Format::kNf4};

constexpr int BitsOf(Format format) {
  switch (format) {
    case Format::kInt8:
      return 8;
    case Format::kNf4:
      return 4;
  }
  return 0;
}

constexpr std::string_view NameOf(Format format) {
  switch (format) {
    case Format::kInt8:
      return "int8";
    case Format::kNf4:
      return "nf4";
  }
  return "?";
}

constexpr std::optional<Format> FormatFromName(std::string_view name) {
  for (Format format : kAllFormats) {
    if (NameOf(format) == name) return format;
  }
  return std::nullopt;
}

inline constexpr std::int64_t kMinBlock = 32;
inline constexpr std::int64_t kMaxBlock = 2048;
inline constexpr std::int64_t kActivationBlock = 128;
inline constexpr std::int64_t kGradientBlock = 256;

// One fp32 scale (the largest magnitude) for each `block` consecutive elements in row-major order;
// the last block may be short.
struct QuantSpec {
  Format format = Format::kInt8;
  std::int64_t block = kActivationBlock;

  friend constexpr bool operator==(const QuantSpec&, const QuantSpec&) = default;
};

constexpr bool IsValidBlock(std::int64_t block) {
  return block >= kMinBlock && block <= kMaxBlock && (block & (block - 1)) == 0;
}

constexpr std::int64_t NumBlocks(const QuantSpec& spec, std::int64_t num_elements) {
  return (num_elements + spec.block - 1) / spec.block;
}

// Bytes of the packed codes of `num_elements` elements, without scales.
constexpr std::int64_t CodeBytes(const QuantSpec& spec, std::int64_t num_elements) {
  return (num_elements * BitsOf(spec.format) + 7) / 8;
}

constexpr std::int64_t ScaleBytes(const QuantSpec& spec, std::int64_t num_elements) {
  return NumBlocks(spec, num_elements) * static_cast<std::int64_t>(sizeof(float));
}

constexpr std::int64_t PackedBytes(const QuantSpec& spec, std::int64_t num_elements) {
  return CodeBytes(spec, num_elements) + ScaleBytes(spec, num_elements);
}

}  // namespace agoq
