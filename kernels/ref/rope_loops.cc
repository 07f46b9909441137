#include "kernels/ref/rope_loops.h"

#include "kernels/ref/element.h"

namespace agoq::ref {
namespace {

// In place is pair by pair: no iteration reads what another one writes.
template <class T>
void RotateHead(const T* in, T* out, const Compute<T>* cos, const Compute<T>* sin,
                std::int64_t half, Compute<T> sign) {
  using A = Compute<T>;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < half; ++i) {
    const A first = Load(in[i]);
    const A second = Load(in[i + half]);
    const A signed_sin = sign * sin[i];
    Store(first * cos[i] - second * signed_sin, out[i]);
    Store(second * cos[i] + first * signed_sin, out[i + half]);
  }
}

void Rotate(const RopeRows& rows, std::int64_t begin, std::int64_t end) {
  VisitType(rows.in_TE.type, [&]<class T>(T) {
    using A = Compute<T>;
    const std::int64_t half = rows.head_size / 2;
    const A sign = rows.backward ? A(-1) : A(1);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t entry = rows.positions_T[row] * half;
      for (std::int64_t i = 0; i < rows.in_TE.columns; i += rows.head_size) {
        RotateHead<T>(RowOf<const T>(rows.in_TE, row) + i, RowOf<T>(rows.out_TE, row) + i,
                      static_cast<const A*>(rows.cos) + entry,
                      static_cast<const A*>(rows.sin) + entry, half, sign);
      }
    }
  });
}

}  // namespace

template <>
const RopeLoops& TableOf<RopeLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr RopeLoops kTable{.rotate = Rotate};
  return kTable;
}

}  // namespace agoq::ref
