// The rotary position embedding.
#include "kernels/ops/rope.h"

#include <ATen/ops/empty_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/rope_loops.h"
#include "tests/unit/kernels/matrices.h"

namespace agoq {
namespace {

using test::Indices;
using test::Matrix;
using test::ValuesOf;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kTheta = 10000.0;

RopeTable TableFor(at::ScalarType type, std::int64_t head_size, std::int64_t num_positions = 50) {
  return ops::MakeRopeTable({.num_positions = num_positions,
                             .head_size = head_size,
                             .theta = kTheta,
                             .type = type == at::kDouble ? at::kDouble : at::kFloat});
}

// By the definition: complex multiplication of (x[i], x[i + half]) by e^(i angle).
std::vector<double> Naive(const at::Tensor& in_TE, const at::Tensor& positions_T,
                          std::int64_t head_size, double sign) {
  auto x = ValuesOf(in_TE);
  const std::int64_t width = in_TE.size(1), half = head_size / 2;
  for (std::int64_t t = 0; t < in_TE.size(0); ++t) {
    const auto position = static_cast<double>(positions_T.data_ptr<std::int64_t>()[t]);
    for (std::int64_t head = 0; head < width; head += head_size) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(head_size);
        const double angle = sign * position / std::pow(kTheta, exponent);
        double& first = x[t * width + head + i];
        double& second = x[t * width + head + i + half];
        const double turned = first * std::cos(angle) - second * std::sin(angle);
        second = second * std::cos(angle) + first * std::sin(angle);
        first = turned;
      }
    }
  }
  return x;
}

TEST(RopeTest, EqualsTheDefinitionForEachTypeSizeAndDirection) {
  for (const at::ScalarType type : test::kTypes) {
    for (const std::int64_t head_size : {2, 6, 32, 38}) {
      const RopeTable table = TableFor(type, head_size);
      const at::Tensor in = Matrix({13, 3 * head_size}, 1, type), positions = Indices(13, 50, 2);
      const at::Tensor out = Matrix({13, 3 * head_size}, 3, type);
      for (const auto direction : {RopeDirection::kForward, RopeDirection::kBackward}) {
        ops::Rope({in, out, positions, table, head_size, direction});
        const double sign = direction == RopeDirection::kForward ? 1.0 : -1.0;
        test::ExpectNear(out, Naive(in, positions, head_size, sign), test::Tolerance(type));
      }
    }
  }
}

TEST(RopeTest, BackwardUndoesForwardInPlace) {
  const RopeTable table = TableFor(at::kDouble, 6);
  const at::Tensor x = Matrix({20, 12}, 4, at::kDouble), positions = Indices(20, 50, 5);
  const auto before = ValuesOf(x);
  ops::Rope({x, x, positions, table, 6, RopeDirection::kForward});
  ops::Rope({x, x, positions, table, 6, RopeDirection::kBackward});
  test::ExpectNear(x, before, 1e-14);
}

// M-05: adjacent elements as a pair would give [-1.142640, 1.922076, 2.959851, 4.029800].
TEST(RopeTest, M05PairsTheHalvesOfAHead) {
  const at::Tensor query = at::empty({1, 4}, at::kFloat), position = at::empty({1}, at::kLong);
  for (int i = 0; i < 4; ++i) query.data_ptr<float>()[i] = static_cast<float>(i + 1);
  position.fill_(1);
  const RopeTable table = TableFor(at::kFloat, 4);
  ops::Rope({query, query, position, table, 4, RopeDirection::kForward});
  test::ExpectNear(query, {-1.984111, 1.959901, 2.462378, 4.019800}, 1e-6);
}

TEST(RopeTest, TableRoundsExactAnglesOnce) {
  const RopeTable table = TableFor(at::kFloat, 64, 10000);
  const std::int64_t position = 9999;
  for (std::int64_t i = 0; i < 32; ++i) {
    const double angle =
        static_cast<double>(position) * std::pow(kTheta, -static_cast<double>(i) / 32.0);
    EXPECT_NEAR(table.cos.data_ptr<float>()[position * 32 + i], std::cos(angle), 6e-8);
    EXPECT_NEAR(table.sin.data_ptr<float>()[position * 32 + i], std::sin(angle), 6e-8);
  }
}

TEST(RopeTest, DoesNotDependOnTheNumberOfThreads) {
  const RopeTable table = TableFor(at::kFloat, 32);
  const at::Tensor in = Matrix({1001, 128}, 6), positions = Indices(1001, 50, 7);
  const at::Tensor one = at::empty_like(in), two = at::empty_like(in);
  test::OnThreads(1, [&] { ops::Rope({in, one, positions, table, 32}); });
  test::OnThreads(2, [&] { ops::Rope({in, two, positions, table, 32}); });
  EXPECT_TRUE(test::HasSameBits(one, two));
}

TEST(RopeTest, BaselineAndAvx2GiveTheSameBits) {
  if (!ref::IsAvailable(ref::LoopVariant::kAvx2)) GTEST_SKIP() << "no AVX2 loops";
  for (const at::ScalarType type : test::kTypes) {
    const RopeTable table = TableFor(type, 38);
    const at::Tensor in = Matrix({7, 76}, 8, type), positions = Indices(7, 50, 9);
    std::vector<at::Tensor> out;
    for (const auto variant : {ref::LoopVariant::kBaseline, ref::LoopVariant::kAvx2}) {
      out.push_back(at::empty_like(in));
      ref::LoopsOf<ref::RopeLoops>(variant).rotate(
          {.in_TE = ops::MatrixOf(in, "in"),
           .out_TE = ops::MatrixOf(out.back(), "out"),
           .positions_T = positions.data_ptr<std::int64_t>(),
           .cos = table.cos.data_ptr(),
           .sin = table.sin.data_ptr(),
           .head_size = 38},
          0, 7);
    }
    EXPECT_TRUE(test::HasSameBits(out[0], out[1]));
  }
}

TEST(RopeTest, RefusesAPositionOutsideTheTableAndWritesNothing) {
  const RopeTable table = TableFor(at::kFloat, 4);
  const at::Tensor x = Matrix({3, 8}, 10), positions = Indices(3, 50, 11);
  const at::Tensor before = x.clone();
  for (const std::int64_t wrong : {std::int64_t{50}, std::int64_t{-1}}) {
    positions.data_ptr<std::int64_t>()[2] = wrong;
    const auto message = test::MessageOf<std::out_of_range>([&] {
      ops::Rope({x, x, positions, table, 4});
    });
    EXPECT_THAT(message, AllOf(HasSubstr("position 2"), HasSubstr(std::to_string(wrong)),
                               HasSubstr("limit is 49")));
  }
  EXPECT_TRUE(test::HasSameBits(x, before));
}

TEST(RopeTest, RefusesATableOrHeadSizeThatDoesNotFit) {
  const at::Tensor x = Matrix({3, 8}, 12), positions = Indices(3, 50, 13);
  const auto refusal = [&](const RopeTable& table, std::int64_t head_size) {
    return test::MessageOf<std::invalid_argument>([&] {
      ops::Rope({x, x, positions, table, head_size});
    });
  };
  EXPECT_THAT(refusal(TableFor(at::kFloat, 4), 3), HasSubstr("head_size 3"));
  EXPECT_THAT(refusal(TableFor(at::kFloat, 6), 6), HasSubstr("multiple of head_size 6"));
  EXPECT_THAT(refusal(TableFor(at::kFloat, 4), 8), HasSubstr("2 columns for head_size 8"));
  EXPECT_THAT(refusal(TableFor(at::kDouble, 4), 4), HasSubstr("fp32"));
  EXPECT_THAT(refusal(RopeTable{}, 4), HasSubstr("table.cos"));
}

TEST(RopeTest, RefusesToMakeATableOfWrongArguments) {
  const auto refusal = [](const ops::RopeTableArgs& args) {
    return test::MessageOf<std::invalid_argument>([&] { ops::MakeRopeTable(args); });
  };
  EXPECT_THAT(refusal({.num_positions = 4, .head_size = 5}), HasSubstr("head_size 5"));
  EXPECT_THAT(refusal({.num_positions = -1, .head_size = 4}), HasSubstr("num_positions -1"));
  EXPECT_THAT(refusal({.num_positions = 4, .head_size = 4, .theta = 0.0}), HasSubstr("theta 0"));
  EXPECT_THAT(refusal({.num_positions = 4, .head_size = 4, .type = at::kBFloat16}),
              HasSubstr("fp32 or fp64"));
}

}  // namespace
}  // namespace agoq
