// Row-strided random matrices, and comparison with an oracle in double.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ref/loop_variant.h"
#include "tests/unit/kernels/samples.h"

namespace agoq::test {

inline constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kDouble};

struct Size {
  std::int64_t rows;
  std::int64_t columns;
};
inline constexpr Size kOddSizes[] = {{1, 1}, {3, 7}, {5, 16}, {33, 130}, {70, 345}};

// A view of columns of a wider tensor.
inline at::Tensor Matrix(Size size, std::uint32_t seed, at::ScalarType type = at::kFloat) {
  const std::int64_t width = size.columns + 5;
  return Gaussian(size.rows * width, seed)
      .to(type)
      .view({size.rows, width})
      .narrow(1, 3, size.columns);
}

inline at::Tensor Indices(std::int64_t n, std::int64_t limit, std::uint32_t seed) {
  std::mt19937_64 engine(seed);
  at::Tensor indices = at::empty({n}, at::kLong);
  for (std::int64_t i = 0; i < n; ++i) {
    indices.data_ptr<std::int64_t>()[i] =
        static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(limit));
  }
  return indices;
}

inline std::vector<double> ValuesOf(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.to(at::kDouble).contiguous();
  return {wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel()};
}

// One rounding of the type, with room for sums.
inline double Tolerance(at::ScalarType type) {
  if (type == at::kBFloat16) return 0x1p-8;
  return type == at::kFloat ? 4e-6 : 1e-13;
}

inline void ExpectNear(const at::Tensor& actual, const std::vector<double>& expected,
                       double tolerance) {
  const std::vector<double> values = ValuesOf(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i])))
        << "element " << i;
  }
}

inline bool HasSameBits(const at::Tensor& a, const at::Tensor& b) {
  return SameBits(a.contiguous(), b.contiguous());
}

template <class Function>
void OnThreads(int num_threads, Function function) {
  const int before = at::get_num_threads();
  at::set_num_threads(num_threads);
  function();
  at::set_num_threads(before);
}

// "" if function throws nothing.
template <class Error, class Function>
std::string MessageOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace agoq::test
