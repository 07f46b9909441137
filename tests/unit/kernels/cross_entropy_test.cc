// The cross-entropy and its gradient in place.
#include "kernels/ops/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/cross_entropy_loops.h"
#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Indices;
using test::Matrix;
using test::Size;
using test::ValuesOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kWithGradient = CrossEntropyMode::kLossAndGradient;

struct Oracle {
  double loss = 0.0;
  std::vector<double> gradient;
};

Oracle Naive(const at::Tensor& logits_TV, const at::Tensor& targets_T, double scale) {
  const auto x = ValuesOf(logits_TV);
  const auto columns = static_cast<std::size_t>(logits_TV.size(1));
  Oracle oracle{.gradient = std::vector<double>(x.size())};
  for (std::size_t t = 0; t * columns < x.size(); ++t) {
    const std::int64_t target = targets_T.data_ptr<std::int64_t>()[t];
    if (target < 0) continue;
    const double* const row = x.data() + t * columns;
    const double largest = *std::max_element(row, row + columns);
    long double sum = 0.0L;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(row[i] - largest);
    oracle.loss += static_cast<double>(std::log(sum)) + largest - row[target];
    for (std::size_t i = 0; i < columns; ++i) {
      oracle.gradient[t * columns + i] =
          scale * static_cast<double>(std::exp(row[i] - largest) / sum);
    }
    oracle.gradient[t * columns + static_cast<std::size_t>(target)] -= scale;
  }
  return oracle;
}

at::Tensor TargetsWithOneIgnored(Size size, std::uint32_t seed) {
  at::Tensor targets = Indices(size.rows, size.columns, seed);
  if (size.rows > 1) targets.data_ptr<std::int64_t>()[1] = -100;
  return targets;
}

TEST(CrossEntropyTest, LossAndGradientEqualThePlainLoopForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor logits = Matrix(size, 1, type).mul_(4);
      const at::Tensor targets = TargetsWithOneIgnored(size, 2);
      const Oracle expected = Naive(logits, targets, 0.25);
      const double loss = ops::CrossEntropy(
          {.logits_TV = logits, .targets_T = targets, .scale = 0.25, .mode = kWithGradient});
      EXPECT_NEAR(loss, expected.loss, (type == at::kDouble ? 1e-13 : 1e-6) * (1 + expected.loss));
      test::ExpectNear(logits, expected.gradient, test::Tolerance(type) * 0.25);
    }
  }
}

TEST(CrossEntropyTest, LossAloneIsTheSameNumberAndLeavesTheLogits) {
  for (const at::ScalarType type : test::kTypes) {
    const at::Tensor logits = Matrix({33, 130}, 3, type), before = logits.clone();
    const at::Tensor targets = TargetsWithOneIgnored({33, 130}, 4);
    const double loss = ops::CrossEntropy({.logits_TV = logits, .targets_T = targets});
    EXPECT_TRUE(test::HasSameBits(logits, before));
    EXPECT_EQ(loss, ops::CrossEntropy(
                        {.logits_TV = logits, .targets_T = targets, .mode = kWithGradient}));
  }
}

at::Tensor OneTarget(std::int64_t target) {
  at::Tensor targets = at::empty({1}, at::kLong);
  targets.fill_(target);
  return targets;
}

TEST(CrossEntropyTest, IsFiniteForLargeLogits) {
  const at::Tensor logits = test::Filled(20, -1e4f).view({1, 20});
  logits.data_ptr<float>()[7] = 1e4f;
  EXPECT_EQ(ops::CrossEntropy({.logits_TV = logits, .targets_T = OneTarget(7)}), 0.0);
  EXPECT_EQ(
      ops::CrossEntropy({.logits_TV = logits, .targets_T = OneTarget(3), .mode = kWithGradient}),
      2e4);
  std::vector<double> expected(20);
  expected[7] = 1.0;
  expected[3] = -1.0;
  test::ExpectNear(logits, expected, 0.0);
}

TEST(CrossEntropyTest, AMaskedLogitHasNoGradient) {
  const at::Tensor logits = test::Filled(20, 0.0f).view({1, 20});
  logits.data_ptr<float>()[7] = -INFINITY;
  const double loss =
      ops::CrossEntropy({.logits_TV = logits, .targets_T = OneTarget(0), .mode = kWithGradient});
  EXPECT_NEAR(loss, std::log(19.0), 1e-7);
  EXPECT_EQ(logits.data_ptr<float>()[7], 0.0f);
}

TEST(CrossEntropyTest, NanReachesLossAndGradient) {
  for (const std::int64_t place : {0, 17, 39}) {
    const at::Tensor logits = test::Gaussian(40, 5).view({1, 40});
    logits.data_ptr<float>()[place] = NAN;
    EXPECT_TRUE(std::isnan(ops::CrossEntropy({.logits_TV = logits, .targets_T = OneTarget(3)})));
    EXPECT_TRUE(std::isnan(ops::CrossEntropy(
        {.logits_TV = logits, .targets_T = OneTarget(3), .mode = kWithGradient})));
    for (const double value : ValuesOf(logits)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(CrossEntropyTest, NanInAnIgnoredRowCountsNothing) {
  const at::Tensor logits = test::Filled(40, NAN).view({1, 40});
  EXPECT_EQ(
      ops::CrossEntropy({.logits_TV = logits, .targets_T = OneTarget(-100), .mode = kWithGradient}),
      0.0);
  test::ExpectNear(logits, std::vector<double>(40), 0.0);
}

// D-07: labels that are shifted twice give about 20 here. Rows hold 20 at the next id, 0 elsewhere.
TEST(CrossEntropyTest, D07TakesTargetsAsTheyAre) {
  const at::Tensor logits = test::Filled(300, 0.0f).view({3, 100});
  const at::Tensor targets = at::empty({3}, at::kLong);
  for (std::int64_t t = 0; t < 3; ++t) {
    const std::int64_t next = 11 + t;
    targets.data_ptr<std::int64_t>()[t] = next;
    logits.data_ptr<float>()[t * 100 + next] = 20.0f;
  }
  const double loss = ops::CrossEntropy({.logits_TV = logits, .targets_T = targets}) / 3.0;
  EXPECT_NEAR(loss, std::log1p(99.0 * std::exp(-20.0)), 1e-12);
  EXPECT_NEAR(loss, 2.0e-7, 0.05e-7);
}

TEST(CrossEntropyTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor targets = Indices(1001, 256, 6);
  const at::Tensor one = Matrix({1001, 256}, 7), two = Matrix({1001, 256}, 7);
  double loss_one = 0.0, loss_two = 1.0;
  test::OnThreads(1, [&] {
    loss_one = ops::CrossEntropy({one, targets, -100, 0.1, kWithGradient});
  });
  test::OnThreads(2, [&] {
    loss_two = ops::CrossEntropy({two, targets, -100, 0.1, kWithGradient});
  });
  EXPECT_EQ(loss_one, loss_two);
  EXPECT_TRUE(test::HasSameBits(one, two));
}

TEST(CrossEntropyTest, BaselineAndAvx2GiveTheSameBits) {
  if (!ref::IsAvailable(ref::LoopVariant::kAvx2)) GTEST_SKIP() << "no AVX2 loops";
  for (const at::ScalarType type : test::kTypes) {
    const at::Tensor targets = TargetsWithOneIgnored({7, 261}, 8);
    std::vector<at::Tensor> gradients;
    std::vector<double> losses[2];
    for (const auto variant : {ref::LoopVariant::kBaseline, ref::LoopVariant::kAvx2}) {
      const auto& loops = ref::LoopsOf<ref::CrossEntropyLoops>(variant);
      const at::Tensor logits = Matrix({7, 261}, 9, type).mul_(10);
      const ref::CrossEntropyRows rows{.logits_TV = ops::MatrixOf(logits, "logits"),
                                       .targets_T = targets.data_ptr<std::int64_t>(),
                                       .ignore_index = -100,
                                       .scale = 0.3};
      std::vector<double>& loss = losses[gradients.size()];
      loss.resize(14);
      loops.loss(rows, 0, 7, loss.data());
      loops.loss_and_gradient(rows, 0, 7, loss.data() + 7);
      gradients.push_back(logits);
    }
    EXPECT_EQ(losses[0], losses[1]);
    EXPECT_TRUE(test::HasSameBits(gradients[0], gradients[1]));
  }
}

TEST(CrossEntropyTest, RefusesATargetOutsideTheVocabularyAndWritesNothing) {
  const at::Tensor logits = Matrix({200, 12}, 10), before = logits.clone();
  const at::Tensor targets = Indices(200, 12, 11);
  for (const std::int64_t wrong : {12, -1}) {
    targets.data_ptr<std::int64_t>()[123] = wrong;
    const auto message = test::MessageOf<std::out_of_range>([&] {
      ops::CrossEntropy({logits, targets, -100, 1.0, kWithGradient});
    });
    EXPECT_THAT(message, AllOf(HasSubstr("position 123"), HasSubstr(std::to_string(wrong)),
                               HasSubstr("limit is 11")));
  }
  EXPECT_TRUE(test::HasSameBits(logits, before));
}

TEST(CrossEntropyTest, RefusesArgumentsByName) {
  const at::Tensor logits = Matrix({3, 12}, 12), targets = Indices(3, 12, 13);
  const auto refusal = [](const ops::CrossEntropyArgs& args) {
    return test::MessageOf<std::invalid_argument>([&] { ops::CrossEntropy(args); });
  };
  EXPECT_THAT(refusal({.logits_TV = logits, .targets_T = Indices(4, 12, 1)}),
              AllOf(HasSubstr("cross-entropy: targets"), HasSubstr("[3]")));
  EXPECT_THAT(refusal({.logits_TV = logits, .targets_T = targets.to(at::kInt)}),
              HasSubstr("int64"));
  EXPECT_THAT(refusal({.logits_TV = logits.narrow(1, 0, 0), .targets_T = targets}),
              HasSubstr("vocabulary is empty"));
  EXPECT_THAT(refusal({.logits_TV = logits, .targets_T = targets, .scale = NAN}),
              HasSubstr("scale nan"));
}

}  // namespace
}  // namespace agoq
