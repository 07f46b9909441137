#include "kernels/ref/rmsnorm_loops.h"

#include "kernels/ref/element.h"

namespace agoq::ref {
namespace {

constexpr int kLanes = 16;

// The sum of term(i) over [0, n).
template <class A, class Term>
[[gnu::always_inline]] inline A Sum(std::int64_t n, Term term) {
  A lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
  }
  for (int k = 0; i < n; ++i, ++k) lanes[k] += term(i);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  return lanes[0];
}

template <class T>
Compute<T> InverseNorm(const T* x, std::int64_t n, double epsilon) {
  using A = Compute<T>;
  const A sum = Sum<A>(n, [x](std::int64_t i) { return Load(x[i]) * Load(x[i]); });
  return A(1) / std::sqrt(sum / static_cast<A>(n) + static_cast<A>(epsilon));
}

template <class T>
void ForwardRow(const T* x, const T* weight, std::int64_t n, double epsilon, T* out) {
  const Compute<T> inverse_norm = InverseNorm(x, n, epsilon);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    Store(Load(x[i]) * inverse_norm * Load(weight[i]), out[i]);
  }
}

void Forward(const RmsNormRows& rows, std::int64_t begin, std::int64_t end) {
  VisitType(rows.x_TD.type, [&]<class T>(T) {
    for (std::int64_t row = begin; row < end; ++row) {
      ForwardRow(RowOf<const T>(rows.x_TD, row), static_cast<const T*>(rows.weight_D),
                 rows.x_TD.columns, rows.epsilon, RowOf<T>(rows.out_TD, row));
    }
  });
}

template <class T>
struct GradientRow {
  const T* x;
  const T* weight;
  const T* grad_out;
  T* grad_x;
  Compute<T>* grad_weight;
};

template <class T>
void BackwardRow(const GradientRow<T>& row, std::int64_t n, double epsilon) {
  using A = Compute<T>;
  const T* __restrict x = row.x;
  const T* __restrict w = row.weight;
  const T* __restrict g = row.grad_out;
  T* __restrict grad_x = row.grad_x;
  A* __restrict grad_weight = row.grad_weight;
  const A inverse_norm = InverseNorm(x, n, epsilon);
  const A dot = Sum<A>(n, [=](std::int64_t i) { return Load(g[i]) * Load(w[i]) * Load(x[i]); });
  const A along_x = dot * inverse_norm * inverse_norm / static_cast<A>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const A from_out = Load(g[i]);
    const A value = Load(x[i]);
    grad_weight[i] += from_out * (value * inverse_norm);
    const A from_norm = inverse_norm * (from_out * Load(w[i]) - value * along_x);
    Store(Load(grad_x[i]) + from_norm, grad_x[i]);
  }
}

void Backward(const RmsNormGradientRows& rows, std::int64_t begin, std::int64_t end,
              void* grad_weight_D) {
  VisitType(rows.x_TD.type, [&]<class T>(T) {
    for (std::int64_t row = begin; row < end; ++row) {
      BackwardRow<T>({.x = RowOf<const T>(rows.x_TD, row),
                      .weight = static_cast<const T*>(rows.weight_D),
                      .grad_out = RowOf<const T>(rows.grad_out_TD, row),
                      .grad_x = RowOf<T>(rows.grad_x_TD, row),
                      .grad_weight = static_cast<Compute<T>*>(grad_weight_D)},
                     rows.x_TD.columns, rows.epsilon);
    }
  });
}

}  // namespace

template <>
const RmsNormLoops& TableOf<RmsNormLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr RmsNormLoops kTable{.forward = Forward, .backward = Backward};
  return kTable;
}

}  // namespace agoq::ref
