// The packed gradient store over micro-batches.
#include "kernels/ops/gradient_accumulate.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>
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

PackedTensor EmptyStore(std::int64_t n) {
  return ops::Quantize(at::zeros({n}, at::kFloat), kSpec, 0, nullptr);
}

void Add(const PackedTensor& store, const at::Tensor& gradient,
         GradientMode mode = GradientMode::kAdd) {
  ops::GradientAccumulate({.store = store.view(), .gradient = gradient, .mode = mode});
}

TEST(GradientAccumulateTest, WritingIsStoring) {
  const at::Tensor gradient = Gaussian(1000, 1);
  const PackedTensor store = ops::Quantize(Filled(1000, NAN), kSpec, 0, nullptr);
  Add(store, gradient, GradientMode::kWrite);
  const PackedTensor expected = ops::Quantize(gradient, kSpec, 0, nullptr);
  EXPECT_TRUE(SameBits(store.codes, expected.codes));
  EXPECT_TRUE(SameBits(store.scales, expected.scales));
}

TEST(GradientAccumulateTest, AddingStoresTheSumOfDecodedAndGradient) {
  const at::Tensor first = Gaussian(33 * 50, 1).view({33, 50});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    for (const QuantSpec spec : {kSpec, QuantSpec{.format = Format::kNf4, .block = 32}}) {
      const at::Tensor whole = Gaussian(33 * 60, 2).view({33, 60}).to(type);
      const at::Tensor second = whole.narrow(1, 3, 50);
      const PackedTensor store = ops::Quantize(first, spec, 0, nullptr);
      const PackedTensor expected = ops::Quantize(
          ops::Dequantize(store, at::kFloat).add(second.to(at::kFloat)), spec, 0, nullptr);
      Add(store, second);
      EXPECT_TRUE(SameBits(store.codes, expected.codes));
      EXPECT_TRUE(SameBits(store.scales, expected.scales));
    }
  }
}

// Each store adds an error of e times the running sum, so that after K equal ones the error is e *
// sqrt((K + 1) / 2).
TEST(GradientAccumulateTest, ErrorGrowsAsTheRootOfTheMicroBatches) {
  constexpr std::int64_t kElements = 1 << 18;
  const PackedTensor store = EmptyStore(kElements);
  const at::Tensor exact = at::zeros({kElements}, at::kDouble);
  double single = 0.0;
  for (int k = 1; k <= 16; ++k) {
    const at::Tensor gradient = Gaussian(kElements, 100 + k);
    Add(store, gradient);
    exact.add_(gradient.to(at::kDouble));
    const double error =
        test::RelativeError<float, double>(ops::Dequantize(store, at::kFloat), exact);
    if (k == 1) single = error;
    EXPECT_LE(error, 1.1 * single * std::sqrt((k + 1) / 2.0)) << k;
  }
  EXPECT_LE(single, 0.0075);
}

// Fault case G-06.
TEST(GradientAccumulateTest, SmallMicroBatchesDoNotVanish) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const PackedTensor store = EmptyStore(1);
    Add(store, Filled(1, 1.0f).to(type), GradientMode::kWrite);
    for (int k = 0; k < 8; ++k) Add(store, Filled(1, 0x1p-9f).to(type));
    EXPECT_EQ(ops::Dequantize(store, at::kFloat).item<float>(), 1.015625f);
  }
}

TEST(GradientAccumulateTest, RecordsNanAndKeepsItThroughLaterMicroBatches) {
  const PackedTensor store = EmptyStore(600);
  const at::Tensor bad = Gaussian(600, 3);
  bad.data_ptr<float>()[300] = NAN;
  NonFinite record;
  ops::GradientAccumulate({.store = store.view(),
                           .gradient = bad,
                           .mode = GradientMode::kAdd,
                           .tensor_id = 9,
                           .record = &record});
  EXPECT_EQ(record, (NonFinite{.tensor_id = 9, .first_block = 1, .count = 1}));
  NonFinite later;
  ops::GradientAccumulate({.store = store.view(),
                           .gradient = Gaussian(600, 4),
                           .mode = GradientMode::kAdd,
                           .tensor_id = 9,
                           .record = &later});
  EXPECT_EQ(later, (NonFinite{.tensor_id = 9, .first_block = 1, .count = 256}));
  EXPECT_TRUE(std::isnan(store.scales.data_ptr<float>()[1]));
  EXPECT_FALSE(std::isnan(store.scales.data_ptr<float>()[0]));
}

TEST(GradientAccumulateTest, SumBeyondTheFloatRangeIsRecorded) {
  const PackedTensor store = EmptyStore(10);
  Add(store, Filled(10, 3e38f), GradientMode::kWrite);
  NonFinite record;
  ops::GradientAccumulate({.store = store.view(),
                           .gradient = Filled(10, 3e38f),
                           .mode = GradientMode::kAdd,
                           .tensor_id = 1,
                           .record = &record});
  EXPECT_EQ(record.count, 10);
}

TEST(GradientAccumulateTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor gradient = Gaussian(1 << 20, 5);
  const int before = at::get_num_threads();
  const auto accumulate = [&](int threads) {
    at::set_num_threads(threads);
    PackedTensor store = EmptyStore(1 << 20);
    for (int k = 0; k < 3; ++k) Add(store, gradient);
    return store;
  };
  const PackedTensor one = accumulate(1);
  const PackedTensor four = accumulate(4);
  at::set_num_threads(before);
  EXPECT_TRUE(SameBits(one.codes, four.codes));
  EXPECT_TRUE(SameBits(one.scales, four.scales));
}

TEST(GradientAccumulateTest, RefusesGradientOfAnotherSize) {
  const PackedTensor store = EmptyStore(10);
  EXPECT_THAT(
      [&] { Add(store, Gaussian(11, 1)); },
      testing::ThrowsMessage<std::invalid_argument>(testing::AllOf(
          testing::HasSubstr("gradient accumulate: store"), testing::HasSubstr("expected 11"))));
}

}  // namespace
}  // namespace agoq
