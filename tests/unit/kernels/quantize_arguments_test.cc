// Arguments that are refused, with the value and the remedy.
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Gaussian;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr QuantSpec kNf4{.format = Format::kNf4, .block = 128};

// Fault case Q-09.
TEST(QuantizeArgumentsTest, RefusesBlockThatIsNotAPowerOfTwoInRange) {
  const at::Tensor x = Gaussian(64, 1);
  for (const std::int64_t block :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, std::int64_t{16}, std::int64_t{96},
        std::int64_t{4096}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    for (const Format format : kAllFormats) {
      EXPECT_THAT(
          [&] {
            ops::Quantize(x, {format, block}, 0, nullptr);
          },
          ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("block " + std::to_string(block)),
                                                     HasSubstr("power of two from 32 to 2048"))));
    }
  }
}

TEST(QuantizeArgumentsTest, RefusesOtherTypes) {
  EXPECT_THAT([] { ops::Quantize(Gaussian(64, 1).to(at::kHalf), kNf4, 0, nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  AllOf(HasSubstr("Half"), HasSubstr("fp32, bf16 or fp64"))));
}

TEST(QuantizeArgumentsTest, RefusesRowsThatAreNotContiguous) {
  EXPECT_THAT(
      [] {
        ops::Quantize(Gaussian(64, 1).view({8, 8}).t(), kNf4, 0, nullptr);
      },
      ThrowsMessage<std::invalid_argument>(
          AllOf(HasSubstr("strides [1, 8]"), HasSubstr("contiguous()"))));
}

TEST(QuantizeArgumentsTest, RefusesUndefinedTensor) {
  EXPECT_THAT([] { ops::Quantize(at::Tensor(), kNf4, 0, nullptr); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("undefined")));
}

TEST(QuantizeArgumentsTest, RefusesOutputOfAnotherSize) {
  const PackedTensor packed = ops::Quantize(Gaussian(64, 1), kNf4, 0, nullptr);
  EXPECT_THAT([&] { ops::Dequantize(packed, at::empty({63}, at::kFloat)); },
              ThrowsMessage<std::invalid_argument>(
                  AllOf(HasSubstr("holds 64 elements"), HasSubstr("expected 63"))));
}

TEST(QuantizeArgumentsTest, RefusesUndefinedStorage) {
  EXPECT_THAT([] { ops::Dequantize(PackedTensor{}, at::kFloat); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("undefined packed tensor")));
}

}  // namespace
}  // namespace agoq
