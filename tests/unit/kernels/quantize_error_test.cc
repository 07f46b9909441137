// How far the stored copy is from the original.
#include <gtest/gtest.h>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Gaussian;
using test::Laplace;

constexpr std::int64_t kSamples = 2'000'000;

double StoreError(const at::Tensor& x, const QuantSpec& spec) {
  const at::Tensor loaded = ops::Dequantize(ops::Quantize(x, spec, 0, nullptr), at::kFloat);
  return test::RelativeError<float, float>(loaded, x);
}

void ExpectWithinTwoPercent(double error, double reference) {
  EXPECT_NEAR(error / reference, 1.0, 0.02) << error;
}

TEST(StoreErrorTest, Nf4IsAsPublished) {
  constexpr QuantSpec spec{.format = Format::kNf4, .block = 128};
  ExpectWithinTwoPercent(StoreError(Gaussian(kSamples, 1), spec), 0.0956);
  ExpectWithinTwoPercent(StoreError(Laplace(kSamples, 2), spec), 0.1135);
}

TEST(StoreErrorTest, Int8IsAsPublished) {
  constexpr QuantSpec spec{.format = Format::kInt8, .block = 128};
  ExpectWithinTwoPercent(StoreError(Gaussian(kSamples, 3), spec), 0.0065);
  ExpectWithinTwoPercent(StoreError(Laplace(kSamples, 4), spec), 0.0089);
}

// Fault case Q-09.
TEST(StoreErrorTest, GrowsByAtMostFifteenPercentWithEachDoublingOfTheBlock) {
  const at::Tensor x = Gaussian(1 << 17, 5);
  for (const Format format : kAllFormats) {
    double previous = StoreError(x, {format, 64});
    for (std::int64_t block = 128; block <= kMaxBlock; block *= 2) {
      const double error = StoreError(x, {format, block});
      EXPECT_LE(error / previous, 1.15) << NameOf(format) << "/" << block;
      previous = error;
    }
  }
}

}  // namespace
}  // namespace agoq
