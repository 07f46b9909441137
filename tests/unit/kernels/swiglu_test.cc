// The gated unit, its gradients, and the loops' exponentials.
#include "kernels/ops/swiglu.h"

#include <ATen/ops/empty_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/exponential.h"
#include "kernels/ref/swiglu_loops.h"
#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Matrix;
using test::Size;
using test::ValuesOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

double Silu(double x) { return x / (1.0 + std::exp(-x)); }

std::vector<double> NaiveProduct(const at::Tensor& gate, const at::Tensor& up) {
  auto x = ValuesOf(gate);
  const auto y = ValuesOf(up);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = Silu(x[i]) * y[i];
  return x;
}

// d silu / dx by central differences.
double Slope(double x) { return (Silu(x + 1e-5) - Silu(x - 1e-5)) / 2e-5; }

at::Tensor Product(const at::Tensor& gate, const at::Tensor& up) {
  const at::Tensor out = at::empty_like(gate);
  ops::SwiGlu({.gate_TF = gate, .up_TF = up, .out_TF = out});
  return out;
}

at::Tensor Row(std::initializer_list<float> values) {
  at::Tensor row = at::empty({1, static_cast<std::int64_t>(values.size())}, at::kFloat);
  std::copy(values.begin(), values.end(), row.data_ptr<float>());
  return row;
}

TEST(SwiGluTest, EqualsThePlainLoopForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor gate = Matrix(size, 1, type).mul_(3), up = Matrix(size, 2, type);
      const at::Tensor out = Matrix(size, 3, type);
      ops::SwiGlu({.gate_TF = gate, .up_TF = up, .out_TF = out});
      test::ExpectNear(out, NaiveProduct(gate, up), test::Tolerance(type));
    }
  }
}

TEST(SwiGluTest, GradientsEqualFiniteDifferencesForEachTypeAndSize) {
  for (const at::ScalarType type : test::kTypes) {
    for (const Size size : test::kOddSizes) {
      const at::Tensor gate = Matrix(size, 4, type), up = Matrix(size, 5, type);
      const at::Tensor product = Matrix(size, 6, type);
      const auto x = ValuesOf(gate), y = ValuesOf(up), d = ValuesOf(product);
      std::vector<double> grad_gate(x.size()), grad_up(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        grad_gate[i] = d[i] * y[i] * Slope(x[i]);
        grad_up[i] = d[i] * Silu(x[i]);
      }
      const auto expected = NaiveProduct(gate, up);
      // In place, as the model calls it.
      ops::SwiGluBackward({.gate_TF = gate,
                           .up_TF = up,
                           .product_TF = product,
                           .grad_gate_TF = gate,
                           .grad_up_TF = up});
      const double tolerance = std::max(test::Tolerance(type), 1e-9);
      test::ExpectNear(product, expected, tolerance);
      test::ExpectNear(gate, grad_gate, tolerance);
      test::ExpectNear(up, grad_up, tolerance);
    }
  }
}

TEST(SwiGluTest, GradientsInPlaceEqualThoseOutOfPlace) {
  const Size size{5, 45};
  const at::Tensor gate = Matrix(size, 7), up = Matrix(size, 8), grad = Matrix(size, 9);
  const at::Tensor gate2 = gate.clone(), up2 = up.clone(), grad2 = grad.clone();
  const at::Tensor grad_gate = Matrix(size, 10), grad_up = Matrix(size, 11);
  ops::SwiGluBackward({gate, up, grad, grad_gate, grad_up});
  ops::SwiGluBackward({gate2, up2, grad2, gate2, up2});
  EXPECT_TRUE(test::HasSameBits(grad_gate, gate2));
  EXPECT_TRUE(test::HasSameBits(grad_up, up2));
  EXPECT_TRUE(test::HasSameBits(grad, grad2));
}

TEST(SwiGluTest, IsFiniteFarFromZero) {
  const at::Tensor gate = Row({100, -100, 1e4, -1e4, 0}), up = Row({1, 1, 2, 2, 3});
  test::ExpectNear(Product(gate, up), {100, 0, 2e4, 0, 0}, 0.0);
  const at::Tensor product = Row({1, 1, 1, 1, 1});
  ops::SwiGluBackward({gate, up, product, gate, up});
  test::ExpectNear(gate, {1, 0, 2, 0, 1.5}, 0.0);
  test::ExpectNear(up, {100, 0, 1e4, 0, 0}, 0.0);
}

TEST(SwiGluTest, NanPropagates) {
  EXPECT_TRUE(std::isnan(ValuesOf(Product(Row({NAN}), Row({1})))[0]));
  EXPECT_TRUE(std::isnan(ValuesOf(Product(Row({1}), Row({NAN})))[0]));
}

TEST(SwiGluTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor gate = Matrix({1001, 344}, 12), up = Matrix({1001, 344}, 13);
  at::Tensor one, two;
  test::OnThreads(1, [&] { one = Product(gate, up); });
  test::OnThreads(2, [&] { two = Product(gate, up); });
  EXPECT_TRUE(test::HasSameBits(one, two));
}

TEST(SwiGluTest, BaselineAndAvx2GiveTheSameBits) {
  if (!ref::IsAvailable(ref::LoopVariant::kAvx2)) GTEST_SKIP() << "no AVX2 loops";
  for (const at::ScalarType type : test::kTypes) {
    const Size size{7, 349};
    std::vector<at::Tensor> results[4];
    for (const auto variant : {ref::LoopVariant::kBaseline, ref::LoopVariant::kAvx2}) {
      const auto& loops = ref::LoopsOf<ref::SwiGluLoops>(variant);
      const at::Tensor gate = Matrix(size, 14, type).mul_(20), up = Matrix(size, 15, type);
      const at::Tensor product = Matrix(size, 16, type), out = at::empty_like(product);
      const ref::RowsView gates = ops::MatrixOf(gate, "gate"), ups = ops::MatrixOf(up, "up");
      loops.forward({.gate_TF = gates, .up_TF = ups, .out_TF = ops::MatrixOf(out, "out")}, 0, 7);
      loops.backward({.gate_TF = gates,
                      .up_TF = ups,
                      .product_TF = ops::MatrixOf(product, "product"),
                      .grad_gate_TF = gates,
                      .grad_up_TF = ups},
                     0, 7);
      int i = 0;
      for (const at::Tensor& result : {out, product, gate, up}) results[i++].push_back(result);
    }
    for (const auto& result : results) EXPECT_TRUE(test::HasSameBits(result[0], result[1]));
  }
}

TEST(SwiGluTest, RefusesTensorsOfOtherSizesOrTypes) {
  const at::Tensor gate = Matrix({2, 8}, 17), up = Matrix({2, 8}, 18);
  const auto refusal = [&](const at::Tensor& up_TF, const at::Tensor& out_TF) {
    return test::MessageOf<std::invalid_argument>([&] { ops::SwiGlu({gate, up_TF, out_TF}); });
  };
  EXPECT_THAT(refusal(Matrix({2, 7}, 1), gate),
              AllOf(HasSubstr("SwiGLU: up"), HasSubstr("[2, 8]")));
  EXPECT_THAT(refusal(up, Matrix({2, 8}, 1, at::kBFloat16)),
              AllOf(HasSubstr("SwiGLU: out"), HasSubstr("bf16"), HasSubstr("fp32")));
  EXPECT_THAT(refusal(up.to(at::kInt), gate), HasSubstr("SwiGLU: up"));
}

TEST(ExponentialTest, IsWithinTwoUnitsInTheLastPlace) {
  for (float x = -87.3f; x <= 0.0f; x += 0.00037f) {
    const double exact = std::exp(static_cast<double>(x));
    const auto nearest = static_cast<float>(exact);
    const double unit = std::nextafter(nearest, INFINITY) - nearest;
    ASSERT_NEAR(ref::ExpOfNonPositive(x), exact, 2.0 * unit) << x;
  }
}

TEST(ExponentialTest, ReachesItsLimits) {
  EXPECT_EQ(ref::ExpOfNonPositive(0.0f), 1.0f);
  EXPECT_EQ(ref::ExpOfNonPositive(-0.0f), 1.0f);
  EXPECT_EQ(ref::ExpOfNonPositive(-88.0f), 0.0f);
  EXPECT_EQ(ref::ExpOfNonPositive(-1e30f), 0.0f);
  EXPECT_EQ(ref::ExpOfNonPositive(-INFINITY), 0.0f);
}

TEST(ExponentialTest, KeepsEveryNan) {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xffc00001u}) {
    EXPECT_TRUE(std::isnan(ref::ExpOfNonPositive(std::bit_cast<float>(bits))));
  }
}

TEST(ExponentialTest, SigmoidReachesItsLimits) {
  EXPECT_EQ(ref::Sigmoid(0.0f), 0.5f);
  EXPECT_EQ(ref::Sigmoid(INFINITY), 1.0f);
  EXPECT_EQ(ref::Sigmoid(-INFINITY), 0.0f);
  EXPECT_NEAR(ref::Sigmoid(-20.0f), 2.0611536e-9f, 1e-15f);
  EXPECT_TRUE(std::isnan(ref::Sigmoid(NAN)));
}

}  // namespace
}  // namespace agoq
