// Elements of a tensor in the type they are computed in: bf16 in fp32, the others in their own.
// For loop files, which are compiled twice: hence the internal linkage of its functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct Bfloat16 {
  std::uint16_t bits;
};

template <class T>
struct ComputeTypeOf {
  using Type = T;
};
template <>
struct ComputeTypeOf<Bfloat16> {
  using Type = float;
};
template <class T>
using Compute = typename ComputeTypeOf<T>::Type;

[[gnu::always_inline]] static inline float Load(float x) { return x; }
[[gnu::always_inline]] static inline double Load(double x) { return x; }
[[gnu::always_inline]] static inline float Load(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

[[gnu::always_inline]] static inline void Store(float x, float& to) { to = x; }
[[gnu::always_inline]] static inline void Store(double x, double& to) { to = x; }
// Half to even; a NaN stays one.
[[gnu::always_inline]] static inline void Store(float x, Bfloat16& to) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = static_cast<std::int32_t>(bits & 0x7fffffffu) > 0x7f800000;
  to.bits = static_cast<std::uint16_t>((is_nan ? (bits | 0x400000u) : rounded) >> 16);
}

template <class T>
[[gnu::always_inline]] static inline T* RowOf(const RowsView& view, std::int64_t row) {
  return static_cast<T*>(view.elements) + row * view.row_stride;
}

// Calls visit with a zero element of the type.
template <class Visit>
[[gnu::always_inline]] static inline void VisitType(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::kFloat32:
      return visit(float{});
    case ElementType::kBfloat16:
      return visit(Bfloat16{});
    case ElementType::kFloat64:
      return visit(double{});
  }
}

}  // namespace agoq::ref
