// Sums of packed payloads.
#include "kernels/ops/reduce_quantized.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Filled;
using test::Gaussian;
using test::SameBits;

constexpr QuantSpec kSpec{.format = Format::kInt8, .block = kGradientBlock};

PackedTensor Reduce(const std::vector<PackedTensor>& payloads, double factor) {
  const std::int64_t n = payloads.front().num_elements();
  const QuantSpec spec = payloads.front().spec;
  PackedTensor out = ops::Quantize(at::zeros({n}, at::kFloat), spec, 0, nullptr);
  std::vector<QuantizedView> views;
  for (const PackedTensor& payload : payloads) views.push_back(payload.view());
  ops::ReduceQuantized(
      {.payloads = views, .spec = spec, .num_elements = n, .factor = factor, .out = out.view()});
  return out;
}

std::vector<PackedTensor> RandomPayloads(int ranks, std::int64_t n, const QuantSpec& spec) {
  std::vector<PackedTensor> payloads;
  for (int rank = 0; rank < ranks; ++rank) {
    payloads.push_back(ops::Quantize(Gaussian(n, 10 + rank), spec, 0, nullptr));
  }
  return payloads;
}

TEST(ReduceQuantizedTest, EqualsTheSumInRankOrderStoredAgain) {
  for (const int ranks : {1, 2, 3, 8}) {
    for (const QuantSpec spec : {kSpec, QuantSpec{.format = Format::kNf4, .block = 64}}) {
      const auto payloads = RandomPayloads(ranks, 5000, spec);
      at::Tensor sum = ops::Dequantize(payloads[0], at::kFloat);
      for (int rank = 1; rank < ranks; ++rank)
        sum.add_(ops::Dequantize(payloads[rank], at::kFloat));
      const PackedTensor expected = ops::Quantize(sum.mul(0.7f), spec, 0, nullptr);
      const PackedTensor out = Reduce(payloads, static_cast<double>(0.7f));
      EXPECT_TRUE(SameBits(out.codes, expected.codes)) << ranks;
      EXPECT_TRUE(SameBits(out.scales, expected.scales)) << ranks;
    }
  }
}

// Fault case G-07a.
TEST(ReduceQuantizedTest, SumAndMeanStayInRange) {
  const std::vector<PackedTensor> payloads(4,
                                           ops::Quantize(Filled(512, 400.0f), kSpec, 0, nullptr));
  EXPECT_TRUE(SameBits(ops::Dequantize(Reduce(payloads, 1.0), at::kFloat), Filled(512, 1600.0f)));
  EXPECT_TRUE(SameBits(ops::Dequantize(Reduce(payloads, 0.25), at::kFloat), Filled(512, 400.0f)));
}

// Fault case G-07b.
TEST(ReduceQuantizedTest, SmallTermsAreNotLostBesideALargeOne) {
  std::vector<PackedTensor> payloads(8, ops::Quantize(Filled(256, 1.0f), kSpec, 0, nullptr));
  payloads[0] = ops::Quantize(Filled(256, 256.0f), kSpec, 0, nullptr);
  EXPECT_TRUE(SameBits(ops::Dequantize(Reduce(payloads, 1.0), at::kFloat), Filled(256, 263.0f)));
}

TEST(ReduceQuantizedTest, NanBlockOfOnePayloadMakesThatBlockNanAlone) {
  auto payloads = RandomPayloads(3, 768, kSpec);
  payloads[1].scales.data_ptr<float>()[1] = NAN;
  const PackedTensor out = Reduce(payloads, 1.0);
  EXPECT_FALSE(std::isnan(out.scales.data_ptr<float>()[0]));
  EXPECT_TRUE(std::isnan(out.scales.data_ptr<float>()[1]));
  EXPECT_FALSE(std::isnan(out.scales.data_ptr<float>()[2]));
}

TEST(ReduceQuantizedTest, DoesNotDependOnTheNumberOfThreads) {
  const auto payloads = RandomPayloads(3, 1 << 19, kSpec);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const PackedTensor one = Reduce(payloads, 0.5);
  at::set_num_threads(4);
  const PackedTensor four = Reduce(payloads, 0.5);
  at::set_num_threads(before);
  EXPECT_TRUE(SameBits(one.codes, four.codes));
  EXPECT_TRUE(SameBits(one.scales, four.scales));
}

TEST(ReduceQuantizedTest, RefusesPayloadOfAnotherFormatByRank) {
  auto payloads = RandomPayloads(2, 512, kSpec);
  payloads[1] = ops::Quantize(Gaussian(512, 1), {Format::kNf4, 64}, 0, nullptr);
  EXPECT_THAT([&] { Reduce(payloads, 1.0); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(testing::HasSubstr("payload 1: stored as nf4/64"),
                                 testing::HasSubstr("expected int8/256"))));
}

TEST(ReduceQuantizedTest, RefusesNoPayload) {
  EXPECT_THAT([] { ops::ReduceQuantized({}); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("0 payloads")));
}

}  // namespace
}  // namespace agoq
