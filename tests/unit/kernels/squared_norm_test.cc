// The sum of squares.
#include "kernels/ops/squared_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Gaussian;

double Naive(const at::Tensor& x) {
  const at::Tensor wide = x.to(at::kDouble).contiguous();
  long double sum = 0.0L;
  for (std::int64_t i = 0; i < wide.numel(); ++i) {
    sum += static_cast<long double>(wide.data_ptr<double>()[i]) * wide.data_ptr<double>()[i];
  }
  return static_cast<double>(sum);
}

TEST(SquaredNormTest, EqualsThePlainSumForEachTypeAndLayout) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    for (const std::int64_t rows : {1, 7, 400}) {
      const at::Tensor x = Gaussian(rows * 131, 1).view({rows, 131}).to(type);
      EXPECT_NEAR(ops::SquaredNorm(x) / Naive(x), 1.0, 1e-13);
      const at::Tensor view = x.narrow(1, 5, 100);
      EXPECT_NEAR(ops::SquaredNorm(view) / Naive(view), 1.0, 1e-13);
    }
  }
}

TEST(SquaredNormTest, OfPackedStorageIsThatOfItsDecodedValues) {
  for (const Format format : kAllFormats) {
    for (const std::int64_t block : {32, 256, 2048}) {
      const PackedTensor packed = ops::Quantize(Gaussian(50001, 2), {format, block}, 0, nullptr);
      const double expected = Naive(ops::Dequantize(packed, at::kFloat));
      EXPECT_NEAR(ops::SquaredNorm(packed.view()) / expected, 1.0, 1e-13);
    }
  }
}

TEST(SquaredNormTest, DoesNotOverflowWhereFloatWould) {
  EXPECT_NEAR(ops::SquaredNorm(test::Filled(100, 1e30f)) / 1e62, 1.0, 1e-6);
}

TEST(SquaredNormTest, OfNothingIsZero) {
  EXPECT_EQ(ops::SquaredNorm(at::empty({0}, at::kFloat)), 0.0);
}

TEST(SquaredNormTest, NanPropagates) {
  const at::Tensor x = Gaussian(1000, 3);
  x.data_ptr<float>()[999] = NAN;
  EXPECT_TRUE(std::isnan(ops::SquaredNorm(x)));
  const PackedTensor packed = ops::Quantize(x, {.format = Format::kInt8, .block = 256}, 0, nullptr);
  EXPECT_TRUE(std::isnan(ops::SquaredNorm(packed.view())));
}

TEST(SquaredNormTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor x = Gaussian(1'000'003, 4);
  const PackedTensor packed = ops::Quantize(x, {.format = Format::kInt8, .block = 256}, 0, nullptr);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double plain = ops::SquaredNorm(x);
  const double stored = ops::SquaredNorm(packed.view());
  at::set_num_threads(3);
  EXPECT_EQ(ops::SquaredNorm(x), plain);
  EXPECT_EQ(ops::SquaredNorm(packed.view()), stored);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace agoq
