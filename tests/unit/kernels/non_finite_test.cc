// NaN and infinity on their way into storage.
#include "kernels/ref/non_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Filled;
using test::Gaussian;
using test::SameBits;

class NonFiniteTest : public testing::TestWithParam<Format> {
 protected:
  QuantSpec spec() const { return {.format = GetParam(), .block = 256}; }
};
INSTANTIATE_TEST_SUITE_P(Formats, NonFiniteTest, testing::ValuesIn(kAllFormats),
                         [](const auto& format) { return std::string(NameOf(format.param)); });

// Fault case Q-04.
TEST_P(NonFiniteTest, NanAndInfinityAreRecordedAndLeaveTheCleanBlockAlone) {
  const at::Tensor x = Filled(768, 1.0f);
  x.data_ptr<float>()[10] = NAN;
  x.data_ptr<float>()[266] = INFINITY;
  NonFinite record;
  const PackedTensor packed = ops::Quantize(x, spec(), 7, &record);
  EXPECT_EQ(record, (NonFinite{.tensor_id = 7, .first_block = 0, .count = 2}));
  const at::Tensor loaded = ops::Dequantize(packed, at::kFloat);
  EXPECT_TRUE(loaded.narrow(0, 0, 512).isnan().all().item<bool>());
  EXPECT_TRUE(SameBits(loaded.narrow(0, 512, 256).contiguous(), Filled(256, 1.0f)));
}

TEST_P(NonFiniteTest, BlockIsStoredAsQuietNanScaleAndZeroBytes) {
  const at::Tensor x = Gaussian(300, 1);
  x.data_ptr<float>()[290] = -INFINITY;
  const PackedTensor packed = ops::Quantize(x, spec(), 0, nullptr);
  EXPECT_FALSE(std::isnan(packed.scales.data_ptr<float>()[0]));
  EXPECT_TRUE(std::isnan(packed.scales.data_ptr<float>()[1]));
  const std::int64_t begin = CodeBytes(spec(), 256);
  const at::Tensor codes = packed.codes.narrow(0, begin, packed.codes.numel() - begin);
  EXPECT_TRUE(codes.eq(0).all().item<bool>());
}

TEST_P(NonFiniteTest, DoubleBeyondTheFloatRangeIsNotFinite) {
  const at::Tensor x = Filled(256, 1.0f).to(at::kDouble);
  x.data_ptr<double>()[3] = 1e300;
  NonFinite record;
  ops::Quantize(x, spec(), 2, &record);
  EXPECT_EQ(record, (NonFinite{.tensor_id = 2, .first_block = 0, .count = 1}));
}

TEST_P(NonFiniteTest, NanComesBackAsNanInEachType) {
  const PackedTensor packed =
      ops::Quantize(Filled(256, std::numeric_limits<float>::quiet_NaN()), spec(), 0, nullptr);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    EXPECT_TRUE(ops::Dequantize(packed, type).isnan().all().item<bool>());
  }
}

TEST_P(NonFiniteTest, CleanTensorLeavesTheRecordAlone) {
  NonFinite record{.tensor_id = 1, .first_block = 2, .count = 3};
  ops::Quantize(Gaussian(1000, 2), spec(), 0, &record);
  EXPECT_EQ(record, (NonFinite{.tensor_id = 1, .first_block = 2, .count = 3}));
}

TEST(NonFiniteRecordTest, MergeKeepsTheFirstPlaceAndAddsCounts) {
  const NonFinite late{.tensor_id = 5, .first_block = 1, .count = 2};
  const NonFinite early{.tensor_id = 4, .first_block = 9, .count = 3};
  NonFinite a = late;
  a.Merge(early);
  NonFinite b = early;
  b.Merge(late);
  EXPECT_EQ(a, (NonFinite{.tensor_id = 4, .first_block = 9, .count = 5}));
  EXPECT_EQ(a, b);
}

TEST(NonFiniteRecordTest, EmptyRecordIsNeutral) {
  NonFinite record;
  EXPECT_FALSE(record.any());
  record.Merge({});
  EXPECT_EQ(record, NonFinite{});
  record.Merge({.tensor_id = 5, .first_block = 1, .count = 2});
  EXPECT_EQ(record, (NonFinite{.tensor_id = 5, .first_block = 1, .count = 2}));
}

}  // namespace
}  // namespace agoq
