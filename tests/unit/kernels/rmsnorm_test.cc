// The root-mean-square norm and its gradients.
#include "kernels/ops/rmsnorm.h"

#include <ATen/ops/empty_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/rmsnorm_loops.h"
#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Gaussian;
using test::Matrix;
using test::Size;
using test::ValuesOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kEpsilon = 1e-5;

// out, grad_x and grad_weight in double.
struct Oracle {
  std::vector<double> out, grad_x, grad_weight;
};

Oracle Naive(const at::Tensor& x_TD, const at::Tensor& weight_D, const at::Tensor& grad_TD) {
  const auto x = ValuesOf(x_TD), w = ValuesOf(weight_D), g = ValuesOf(grad_TD);
  const auto width = static_cast<double>(w.size());
  Oracle oracle{.out = x, .grad_x = x, .grad_weight = std::vector<double>(w.size())};
  for (std::size_t first = 0; first < x.size(); first += w.size()) {
    double squares = 0.0, dot = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      squares += x[first + i] * x[first + i];
      dot += g[first + i] * w[i] * x[first + i];
    }
    const double root = std::sqrt(squares / width + kEpsilon);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const std::size_t k = first + i;
      oracle.out[k] = x[k] / root * w[i];
      oracle.grad_x[k] = g[k] * w[i] / root - x[k] * dot / (width * root * root * root);
      oracle.grad_weight[i] += g[k] * x[k] / root;
    }
  }
  return oracle;
}

struct Gradients {
  at::Tensor x_TD;
  at::Tensor weight_D;
};

Gradients Backward(const at::Tensor& x_TD, const at::Tensor& weight_D, const at::Tensor& grad_TD) {
  const auto sum_type = x_TD.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Gradients gradients{.x_TD = at::empty_like(grad_TD).fill_(0.0),
                      .weight_D = at::empty({x_TD.size(1)}, sum_type).fill_(NAN)};
  ops::RmsNormBackward({.x_TD = x_TD,
                        .weight_D = weight_D,
                        .epsilon = kEpsilon,
                        .grad_out_TD = grad_TD,
                        .grad_x_TD = gradients.x_TD,
                        .grad_weight_D = gradients.weight_D});
  return gradients;
}

TEST(RmsNormTest, EqualsThePlainLoopForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor x = Matrix(size, 1, type);
      const at::Tensor weight = Gaussian(size.columns, 2).to(type);
      const at::Tensor out = Matrix(size, 3, type);
      ops::RmsNorm({.x_TD = x, .weight_D = weight, .epsilon = kEpsilon, .out_TD = out});
      test::ExpectNear(out, Naive(x, weight, x).out, test::Tolerance(type));
    }
  }
}

TEST(RmsNormTest, GradientsEqualThePlainLoopForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor x = Matrix(size, 4, type);
      const at::Tensor weight = Gaussian(size.columns, 5).to(type);
      const at::Tensor grad = Matrix(size, 6, type);
      const Gradients actual = Backward(x, weight, grad);
      const Oracle expected = Naive(x, weight, grad);
      test::ExpectNear(actual.x_TD, expected.grad_x, test::Tolerance(type));
      const double tolerance = type == at::kDouble ? 1e-13 : 1e-5;
      test::ExpectNear(actual.weight_D, expected.grad_weight, tolerance);
    }
  }
}

TEST(RmsNormTest, AddsToTheGradientOfX) {
  const Size size{9, 33};
  const at::Tensor x = Matrix(size, 7, at::kDouble), grad = Matrix(size, 8, at::kDouble);
  const at::Tensor weight = Gaussian(33, 9).to(at::kDouble);
  const at::Tensor sum = Matrix(size, 10, at::kDouble);
  const at::Tensor before = sum.clone();
  ops::RmsNormBackward({.x_TD = x,
                        .weight_D = weight,
                        .epsilon = kEpsilon,
                        .grad_out_TD = grad,
                        .grad_x_TD = sum,
                        .grad_weight_D = at::empty({33}, at::kDouble)});
  test::ExpectNear(sum.sub(before), Naive(x, weight, grad).grad_x, 1e-13);
}

TEST(RmsNormTest, WorksInPlace) {
  const at::Tensor x = Matrix({9, 33}, 11), weight = Gaussian(33, 12);
  const std::vector<double> expected = Naive(x, weight, x).out;
  ops::RmsNorm({.x_TD = x, .weight_D = weight, .epsilon = kEpsilon, .out_TD = x});
  test::ExpectNear(x, expected, 4e-6);
}

TEST(RmsNormTest, OfNoTokenHasAZeroGradientOfTheWeight) {
  const at::Tensor none = at::empty({0, 8}, at::kFloat);
  test::ExpectNear(Backward(none, Gaussian(8, 1), none).weight_D, std::vector<double>(8), 0.0);
}

TEST(RmsNormTest, DoesNotDependOnTheNumberOfThreads) {
  const Size size{1001, 128};
  const at::Tensor x = Matrix(size, 13), grad = Matrix(size, 14), weight = Gaussian(128, 15);
  Gradients one, two;
  test::OnThreads(1, [&] { one = Backward(x, weight, grad); });
  test::OnThreads(2, [&] { two = Backward(x, weight, grad); });
  EXPECT_TRUE(test::HasSameBits(one.x_TD, two.x_TD));
  EXPECT_TRUE(test::HasSameBits(one.weight_D, two.weight_D));
}

TEST(RmsNormTest, BaselineAndAvx2GiveTheSameBits) {
  if (!ref::IsAvailable(ref::LoopVariant::kAvx2)) GTEST_SKIP() << "no AVX2 loops";
  for (const at::ScalarType type : test::kTypes) {
    const Size size{7, 137};
    const at::Tensor x = Matrix(size, 16, type), grad = Matrix(size, 17, type);
    const at::Tensor weight = Gaussian(137, 18).to(type);
    std::vector<at::Tensor> out, grad_x, grad_weight;
    for (const auto variant : {ref::LoopVariant::kBaseline, ref::LoopVariant::kAvx2}) {
      const auto& loops = ref::LoopsOf<ref::RmsNormLoops>(variant);
      out.push_back(at::empty_like(x));
      grad_x.push_back(at::empty_like(x).fill_(0.5));
      grad_weight.push_back(at::empty({137}, at::kDouble).fill_(0.0));  // room for either type
      const ref::RowsView rows = ops::MatrixOf(x, "x");
      loops.forward({.x_TD = rows,
                     .weight_D = weight.data_ptr(),
                     .epsilon = kEpsilon,
                     .out_TD = ops::MatrixOf(out.back(), "out")},
                    0, size.rows);
      loops.backward({.x_TD = rows,
                      .weight_D = weight.data_ptr(),
                      .epsilon = kEpsilon,
                      .grad_out_TD = ops::MatrixOf(grad, "grad"),
                      .grad_x_TD = ops::MatrixOf(grad_x.back(), "grad_x")},
                     0, size.rows, grad_weight.back().data_ptr());
    }
    EXPECT_TRUE(test::HasSameBits(out[0], out[1]));
    EXPECT_TRUE(test::HasSameBits(grad_x[0], grad_x[1]));
    EXPECT_TRUE(test::HasSameBits(grad_weight[0], grad_weight[1]));
  }
}

// M-06: a norm that ignores the model's epsilon gives 0.707107 here.
TEST(RmsNormTest, M06UsesTheGivenEpsilon) {
  const at::Tensor x = test::Filled(2, 0.001f).view({1, 2});
  ops::RmsNorm({.x_TD = x, .weight_D = test::Filled(2, 1.0f), .epsilon = 1e-5, .out_TD = x});
  test::ExpectNear(x, {0.301511, 0.301511}, 5e-7);
}

TEST(RmsNormTest, NanStaysInItsRow) {
  const at::Tensor x = Matrix({2, 20}, 19).contiguous();
  x.data_ptr<float>()[3] = NAN;
  ops::RmsNorm({.x_TD = x, .weight_D = test::Filled(20, 1.0f), .out_TD = x});
  const auto values = ValuesOf(x);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(std::isnan(values[i]) && !std::isnan(values[20 + i]));
}

std::string Refusal(const ops::RmsNormArgs& args) {
  return test::MessageOf<std::invalid_argument>([&] { ops::RmsNorm(args); });
}

TEST(RmsNormTest, RefusesArgumentsByName) {
  const at::Tensor x = Matrix({2, 8}, 20), weight = Gaussian(8, 21), out = Matrix({2, 8}, 22);
  EXPECT_THAT(Refusal({.x_TD = x, .weight_D = weight, .epsilon = -1.0, .out_TD = out}),
              HasSubstr("epsilon -1"));
  EXPECT_THAT(Refusal({.x_TD = x, .weight_D = Gaussian(7, 1), .out_TD = out}),
              AllOf(HasSubstr("RMSNorm: weight"), HasSubstr("[8]")));
  EXPECT_THAT(Refusal({.x_TD = x, .weight_D = weight.to(at::kDouble), .out_TD = out}),
              AllOf(HasSubstr("RMSNorm: weight"), HasSubstr("fp64"), HasSubstr("fp32")));
  EXPECT_THAT(Refusal({.x_TD = x, .weight_D = weight, .out_TD = out.narrow(0, 0, 1)}),
              AllOf(HasSubstr("RMSNorm: out"), HasSubstr("[2, 8]")));
  EXPECT_THAT(Refusal({.x_TD = x.t(), .weight_D = weight, .out_TD = out}),
              AllOf(HasSubstr("RMSNorm: x"), HasSubstr("contiguous()")));
  EXPECT_THAT(Refusal({.x_TD = weight, .weight_D = weight, .out_TD = out}), HasSubstr("2-D"));
  EXPECT_THAT(Refusal({.weight_D = weight, .out_TD = out}), HasSubstr("undefined"));
}

}  // namespace
}  // namespace agoq
