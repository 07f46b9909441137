// Random tensors, and bitwise comparison.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

namespace agoq::test {

inline at::Tensor Gaussian(std::int64_t n, std::uint32_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  at::Tensor x = at::empty({n}, at::kFloat);
  float* const values = x.data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i) values[i] = normal(engine);
  return x;
}

inline at::Tensor Laplace(std::int64_t n, std::uint32_t seed) {
  std::mt19937_64 engine(seed);
  std::exponential_distribution<double> magnitude;
  at::Tensor x = at::empty({n}, at::kFloat);
  float* const values = x.data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>((engine() & 1u) != 0 ? magnitude(engine) : -magnitude(engine));
  }
  return x;
}

inline at::Tensor Filled(std::int64_t n, float value) {
  at::Tensor x = at::empty({n}, at::kFloat);
  x.fill_(value);
  return x;
}

// Unlike at::equal, a NaN equals itself and 0 differs from -0.
inline bool SameBits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.is_contiguous() &&
         b.is_contiguous() && std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

// Norm of a - b over norm of b, in double; both contiguous.
template <class A, class B>
double RelativeError(const at::Tensor& a, const at::Tensor& b) {
  const A* const x = a.data_ptr<A>();
  const B* const y = b.data_ptr<B>();
  double difference = 0.0;
  double norm = 0.0;
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    difference += d * d;
    norm += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  }
  return std::sqrt(difference / norm);
}

}  // namespace agoq::test
