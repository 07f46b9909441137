// Exact sums of gradients.
#include "kernels/ops/accumulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Matrix;
using test::Size;
using test::ValuesOf;
using ::testing::HasSubstr;

constexpr at::ScalarType kSumTypes[] = {at::kFloat, at::kDouble};

TEST(AccumulateTest, WritesTheAddendForEachPairOfTypes) {
  for (const at::ScalarType sum_type : kSumTypes) {
    for (const at::ScalarType type : test::kTypes) {
      for (const Size size : test::kOddSizes) {
        const at::Tensor sum = Matrix(size, 1, sum_type), addend = Matrix(size, 2, type);
        ops::Accumulate({.sum = sum, .addend = addend, .mode = GradientMode::kWrite});
        EXPECT_TRUE(test::HasSameBits(sum, addend.to(sum_type)));
      }
    }
  }
}

TEST(AccumulateTest, AddsInTheTypeOfTheSum) {
  for (const at::ScalarType sum_type : kSumTypes) {
    for (const at::ScalarType type : test::kTypes) {
      for (const Size size : test::kOddSizes) {
        const at::Tensor sum = Matrix(size, 3, sum_type), addend = Matrix(size, 4, type);
        auto expected = ValuesOf(sum);
        const auto x = ValuesOf(addend.to(sum_type));
        for (std::size_t i = 0; i < x.size(); ++i) {
          expected[i] += x[i];
          if (sum_type == at::kFloat) expected[i] = static_cast<float>(expected[i]);
        }
        ops::Accumulate({.sum = sum, .addend = addend, .mode = GradientMode::kAdd});
        test::ExpectNear(sum, expected, 0.0);
      }
    }
  }
}

TEST(AccumulateTest, TakesAContiguousTensorAndAViewOfOneShape) {
  const at::Tensor view = Matrix({5, 16}, 5), sum = Matrix({5, 16}, 6).contiguous();
  ops::Accumulate({.sum = sum, .addend = view, .mode = GradientMode::kWrite});
  EXPECT_TRUE(test::HasSameBits(sum, view));
  ops::Accumulate({.sum = view, .addend = sum, .mode = GradientMode::kAdd});
  EXPECT_TRUE(test::HasSameBits(view, sum.mul(2)));
}

TEST(AccumulateTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor addend = Matrix({1001, 130}, 7);
  const at::Tensor one = Matrix({1001, 130}, 8), two = Matrix({1001, 130}, 8);
  test::OnThreads(1, [&] { ops::Accumulate({one, addend, GradientMode::kAdd}); });
  test::OnThreads(2, [&] { ops::Accumulate({two, addend, GradientMode::kAdd}); });
  EXPECT_TRUE(test::HasSameBits(one, two));
}

TEST(AccumulateTest, OfNothingDoesNothing) {
  const at::Tensor none = at::empty({0}, at::kFloat);
  EXPECT_NO_THROW(ops::Accumulate({none, none, GradientMode::kAdd}));
}

TEST(AccumulateTest, NanPropagates) {
  const at::Tensor sum = test::Filled(1, 1.0f);
  ops::Accumulate({sum, test::Filled(1, NAN), GradientMode::kAdd});
  EXPECT_TRUE(std::isnan(sum.data_ptr<float>()[0]));
}

TEST(AccumulateTest, RefusesOtherSizes) {
  const auto message = test::MessageOf<std::invalid_argument>([] {
    ops::Accumulate({test::Filled(3, 0.0f), test::Filled(4, 0.0f), GradientMode::kAdd});
  });
  EXPECT_THAT(message, HasSubstr("accumulate: addend has 4 elements, the sum has 3"));
}

TEST(AccumulateTest, RefusesOtherTypes) {
  const auto message = test::MessageOf<std::invalid_argument>([] {
    ops::Accumulate({test::Filled(3, 0.0f).to(at::kInt), test::Filled(3, 0.0f)});
  });
  EXPECT_THAT(message, HasSubstr("accumulate: sum"));
}

TEST(AccumulateTest, RefusesASumOfBf16) {
  EXPECT_THROW(ops::Accumulate({test::Filled(3, 0.0f).to(at::kBFloat16), test::Filled(3, 0.0f)}),
               std::invalid_argument);
}

}  // namespace
}  // namespace agoq
