#include "kernels/ref/cross_entropy_loops.h"

#include <cstring>
#include <limits>

#include "kernels/ref/element.h"
#include "kernels/ref/exponential.h"

namespace agoq::ref {
namespace {

constexpr int kLanes = 16;
constexpr std::int64_t kBlock = 256;

// The compiler's portable vectors, one register wide: it makes scalars of a plain loop of maxima.
#ifdef __AVX2__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
template <class A>
struct VectorOf {
  typedef A Type __attribute__((vector_size(kVectorBytes)));
};

// At least `largest`. NaN is passed over: it reaches the loss through the sum. A maximum does not
// depend on the order, so that the width may differ between the builds.
template <class A>
A Largest(const A* x, std::int64_t n, A largest) {
  using Vector = typename VectorOf<A>::Type;
  constexpr std::int64_t kWidth = kVectorBytes / sizeof(A);
  constexpr std::int64_t kStep = 4 * kWidth;
  Vector best[4];
  for (Vector& vector : best) vector = Vector{} + largest;
  std::int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (std::int64_t k = 0; k < 4; ++k) {
      Vector value;
      std::memcpy(&value, x + i + k * kWidth, sizeof(value));
      best[k] = value > best[k] ? value : best[k];
    }
  }
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  for (const Vector& vector : best) {
    for (std::int64_t k = 0; k < kWidth; ++k) largest = vector[k] > largest ? vector[k] : largest;
  }
  return largest;
}

template <class A>
A Largest(const A* x, std::int64_t n) {
  return Largest(x, n, -std::numeric_limits<A>::infinity());
}

float Largest(const Bfloat16* x, std::int64_t n) {
  float values[kBlock];
  float largest = -std::numeric_limits<float>::infinity();
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t size = n - first < kBlock ? n - first : kBlock;
    for (std::int64_t i = 0; i < size; ++i) values[i] = Load(x[first + i]);
    largest = Largest(values, size, largest);
  }
  return largest;
}

// Adds x to the lanes, element i to lane i % kLanes. In double: next to the largest logit's 1, the
// others are often below half a float's last place, and they are the loss.
template <class A>
void AddToLanes(const A* x, std::int64_t n, double* lanes) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(x[i + k]);
  }
  for (int k = 0; i < n; ++i, ++k) lanes[k] += static_cast<double>(x[i]);
}

// The sum of exp(x - largest), block by block: the compiler vectorises the two loops apart, not as
// one.
template <class T>
double SumOfPowers(const T* x, std::int64_t n, Compute<T> largest) {
  Compute<T> powers[kBlock];
  double lanes[kLanes] = {};
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t size = n - first < kBlock ? n - first : kBlock;
    for (std::int64_t i = 0; i < size; ++i)
      powers[i] = ExpOfNonPositive(Load(x[first + i]) - largest);
    AddToLanes(powers, size, lanes);
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// As above; x becomes the powers.
template <class T>
double SumAndKeepPowers(T* x, std::int64_t n, T largest) {
  double lanes[kLanes] = {};
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t size = n - first < kBlock ? n - first : kBlock;
    for (std::int64_t i = 0; i < size; ++i) x[first + i] = ExpOfNonPositive(x[first + i] - largest);
    AddToLanes(x + first, size, lanes);
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class A>
double LossOf(double sum, A largest, A target_logit) {
  return std::log(sum) + (static_cast<double>(largest) - static_cast<double>(target_logit));
}

template <class T>
double RowLoss(const T* x, std::int64_t n, std::int64_t target) {
  const Compute<T> largest = Largest(x, n);
  return LossOf(SumOfPowers(x, n, largest), largest, Load(x[target]));
}

template <class A>
A TargetGradient(A target_logit, A largest, double sum, double scale) {
  const auto power = static_cast<double>(ExpOfNonPositive(target_logit - largest));
  return static_cast<A>((power - sum) / sum * scale);
}

template <class T>
double RowGradient(T* x, std::int64_t n, std::int64_t target, double scale) {
  const T largest = Largest(x, n);
  const T target_logit = x[target];
  const double sum = SumAndKeepPowers(x, n, largest);
  const auto factor = static_cast<T>(scale / sum);
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
  x[target] = TargetGradient(target_logit, largest, sum, scale);
  return LossOf(sum, largest, target_logit);
}

// Takes the exponential twice: storing it in bf16 would round once more.
double RowGradient(Bfloat16* x, std::int64_t n, std::int64_t target, double scale) {
  const float largest = Largest(x, n);
  const float target_logit = Load(x[target]);
  const double sum = SumOfPowers(x, n, largest);
  const auto factor = static_cast<float>(scale / sum);
  for (std::int64_t i = 0; i < n; ++i) Store(ExpOfNonPositive(Load(x[i]) - largest) * factor, x[i]);
  Store(TargetGradient(target_logit, largest, sum, scale), x[target]);
  return LossOf(sum, largest, target_logit);
}

template <class T>
void ClearRow(T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = T{};
}

void Loss(const CrossEntropyRows& rows, std::int64_t begin, std::int64_t end, double* loss_T) {
  VisitType(rows.logits_TV.type, [&]<class T>(T) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t target = rows.targets_T[row];
      loss_T[row] = target == rows.ignore_index ? 0.0
                                                : RowLoss(RowOf<const T>(rows.logits_TV, row),
                                                          rows.logits_TV.columns, target);
    }
  });
}

void LossAndGradient(const CrossEntropyRows& rows, std::int64_t begin, std::int64_t end,
                     double* loss_T) {
  VisitType(rows.logits_TV.type, [&]<class T>(T) {
    const std::int64_t columns = rows.logits_TV.columns;
    for (std::int64_t row = begin; row < end; ++row) {
      T* const logits = RowOf<T>(rows.logits_TV, row);
      loss_T[row] = 0.0;
      if (rows.targets_T[row] == rows.ignore_index) {
        ClearRow(logits, columns);
        continue;
      }
      loss_T[row] = RowGradient(logits, columns, rows.targets_T[row], rows.scale);
    }
  });
}

}  // namespace

template <>
const CrossEntropyLoops& TableOf<CrossEntropyLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr CrossEntropyLoops kTable{.loss = Loss, .loss_and_gradient = LossAndGradient};
  return kTable;
}

}  // namespace agoq::ref
