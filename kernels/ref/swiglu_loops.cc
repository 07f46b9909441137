#include "kernels/ref/swiglu_loops.h"

#include "kernels/ref/element.h"
#include "kernels/ref/exponential.h"

namespace agoq::ref {
namespace {

// In place is element by element: no iteration reads what another one writes.
template <class T>
void ForwardRow(const T* gate, const T* up, std::int64_t n, T* out) {
  using A = Compute<T>;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const A x = Load(gate[i]);
    Store(x * Sigmoid(x) * Load(up[i]), out[i]);
  }
}

void Forward(const SwiGluRows& rows, std::int64_t begin, std::int64_t end) {
  VisitType(rows.gate_TF.type, [&]<class T>(T) {
    for (std::int64_t row = begin; row < end; ++row) {
      ForwardRow(RowOf<const T>(rows.gate_TF, row), RowOf<const T>(rows.up_TF, row),
                 rows.gate_TF.columns, RowOf<T>(rows.out_TF, row));
    }
  });
}

template <class T>
struct GradientRow {
  const T* gate;
  const T* up;
  T* product;
  T* grad_gate;
  T* grad_up;
};

template <class T>
void BackwardRow(const GradientRow<T>& row, std::int64_t n) {
  using A = Compute<T>;
  const auto [gate, up, product, grad_gate, grad_up] = row;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const A x = Load(gate[i]);
    const A y = Load(up[i]);
    const A from_product = Load(product[i]);
    const A sigmoid = Sigmoid(x);
    const A silu = x * sigmoid;
    Store(silu * y, product[i]);
    Store(from_product * y * (sigmoid + silu * (A(1) - sigmoid)), grad_gate[i]);
    Store(from_product * silu, grad_up[i]);
  }
}

void Backward(const SwiGluGradientRows& rows, std::int64_t begin, std::int64_t end) {
  VisitType(rows.gate_TF.type, [&]<class T>(T) {
    for (std::int64_t row = begin; row < end; ++row) {
      BackwardRow<T>({.gate = RowOf<const T>(rows.gate_TF, row),
                      .up = RowOf<const T>(rows.up_TF, row),
                      .product = RowOf<T>(rows.product_TF, row),
                      .grad_gate = RowOf<T>(rows.grad_gate_TF, row),
                      .grad_up = RowOf<T>(rows.grad_up_TF, row)},
                     rows.gate_TF.columns);
    }
  });
}

}  // namespace

template <>
const SwiGluLoops& TableOf<SwiGluLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr SwiGluLoops kTable{.forward = Forward, .backward = Backward};
  return kTable;
}

}  // namespace agoq::ref
