// What is stored, and what comes back.
#include "kernels/ops/quantize.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/parallel_blocks.h"
#include "kernels/ref/code_book.h"
#include "tests/unit/kernels/codec_oracle.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::CodeAt;
using test::Filled;
using test::Gaussian;
using test::OracleBlock;
using test::SameBits;
using test::StoreByHand;

constexpr QuantSpec kNf4{.format = Format::kNf4, .block = 128};
constexpr QuantSpec kInt8{.format = Format::kInt8, .block = 256};

at::Tensor StoreAndLoad(const at::Tensor& x, const QuantSpec& spec) {
  return ops::Dequantize(ops::Quantize(x, spec, 0, nullptr), at::kFloat);
}

// Compares every scale, code and decoded value of x with the oracle.
void ExpectAsByHand(const at::Tensor& x, const QuantSpec& spec) {
  const PackedTensor packed = ops::Quantize(x, spec, 0, nullptr);
  const at::Tensor plain = x.to(at::kFloat).contiguous();
  const at::Tensor decoded = ops::Dequantize(packed, at::kFloat);
  const float* const values = plain.data_ptr<float>();
  const std::int64_t n = plain.numel();
  ASSERT_EQ(packed.codes.numel(), CodeBytes(spec, n));
  ASSERT_EQ(packed.scales.numel(), NumBlocks(spec, n));
  for (std::int64_t first = 0, b = 0; first < n; first += spec.block, ++b) {
    const std::int64_t end = std::min(n, first + spec.block);
    const OracleBlock block = StoreByHand(spec.format, {values + first, values + end});
    ASSERT_EQ(packed.scales.data_ptr<float>()[b], block.scale);
    for (std::int64_t i = first; i < end; ++i) {
      ASSERT_EQ(CodeAt(spec.format, packed.codes.data_ptr<std::uint8_t>(), i),
                block.codes[i - first]);
      ASSERT_EQ(decoded.data_ptr<float>()[i], block.decoded[i - first]);
    }
  }
}

class StoreTest : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, StoreTest, testing::ValuesIn(kAllFormats),
                         [](const auto& format) { return std::string(NameOf(format.param)); });

TEST_P(StoreTest, EqualsTheOracleForRandomLengthsBlocksAndTypes) {
  std::mt19937 engine(1);
  for (int round = 0; round < 120; ++round) {
    const QuantSpec spec{.format = GetParam(), .block = kMinBlock << (engine() % 7)};
    const std::int64_t n = 1 + engine() % 6000;
    const at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kDouble};
    const double magnitude = std::ldexp(1.0, static_cast<int>(engine() % 60) - 30);
    ExpectAsByHand(Gaussian(n, engine()).mul(magnitude).to(types[engine() % 3]), spec);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_P(StoreTest, EqualsTheOracleForRowViewsWhoseBlocksCrossRows) {
  std::mt19937 engine(2);
  for (int round = 0; round < 60; ++round) {
    const QuantSpec spec{.format = GetParam(), .block = kMinBlock << (engine() % 7)};
    const std::int64_t rows = 1 + engine() % 40;
    const std::int64_t columns = 1 + engine() % 300;
    const std::int64_t gap = engine() % 9;
    const at::Tensor whole = Gaussian(rows * (columns + gap), engine()).view({rows, columns + gap});
    const at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kDouble};
    ExpectAsByHand(whole.to(types[engine() % 3]).narrow(1, gap / 2, columns), spec);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_P(StoreTest, WritesRowViewsOfEachTypeAndNothingBesideThem) {
  const at::Tensor x = Gaussian(37 * 53, 3).view({37, 53});
  const PackedTensor packed = ops::Quantize(x, {GetParam(), 64}, 0, nullptr);
  const at::Tensor expected = ops::Dequantize(packed, at::kFloat);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    at::Tensor whole = Filled(37 * 60, 9.0f).view({37, 60}).to(type);
    ops::Dequantize(packed, whole.narrow(1, 4, 53));
    EXPECT_TRUE(SameBits(whole.narrow(1, 4, 53).contiguous(), expected.to(type)));
    EXPECT_TRUE(whole.narrow(1, 0, 4).eq(9.0).all().item<bool>());
    EXPECT_TRUE(whole.narrow(1, 57, 3).eq(9.0).all().item<bool>());
  }
}

TEST_P(StoreTest, StoringADecodedBlockAgainChangesNothing) {
  std::mt19937 engine(4);
  for (int exponent = -100; exponent <= 100; exponent += 4) {
    for (const std::int64_t block : {32, 128, 256, 2048}) {
      const QuantSpec spec{GetParam(), block};
      const at::Tensor x = Gaussian(4096 + 7, engine()).mul(std::ldexp(1.0, exponent));
      const PackedTensor once = ops::Quantize(x, spec, 0, nullptr);
      const PackedTensor twice = ops::Quantize(ops::Dequantize(once, at::kFloat), spec, 0, nullptr);
      ASSERT_TRUE(SameBits(once.codes, twice.codes)) << "2^" << exponent << ", block " << block;
      ASSERT_TRUE(SameBits(once.scales, twice.scales)) << "2^" << exponent << ", block " << block;
    }
  }
}

TEST_P(StoreTest, ZeroBlockHasScaleZeroAndDecodesToZero) {
  const PackedTensor packed = ops::Quantize(Filled(300, 0.0f), {GetParam(), 128}, 0, nullptr);
  EXPECT_TRUE(packed.scales.eq(0.0).all().item<bool>());
  EXPECT_TRUE(SameBits(ops::Dequantize(packed, at::kFloat), Filled(300, 0.0f)));
}

TEST_P(StoreTest, ZeroElementComesBackAsZero) {
  const at::Tensor x = Gaussian(128, 5);
  x.data_ptr<float>()[17] = 0.0f;
  EXPECT_EQ(StoreAndLoad(x, {GetParam(), 128}).data_ptr<float>()[17], 0.0f);
}

TEST_P(StoreTest, TinyAndHugeMaximaKeepSignAndMagnitude) {
  for (const float largest : {0x1p-101f, 0x1p-110f, FLT_MIN, 0x1p-140f, 0x1p-149f, FLT_MAX}) {
    const at::Tensor x = at::tensor({largest, -largest, 0.0f, largest});
    EXPECT_TRUE(SameBits(StoreAndLoad(x, {GetParam(), 32}), x)) << largest;
    ExpectAsByHand(Gaussian(100, 6).mul(largest / 8.0f), {GetParam(), 32});
  }
}

// Fault case Q-01.
TEST_P(StoreTest, ConstantBlockComesBackExactAndItsNeighbourIsNotTouched) {
  const at::Tensor x = Filled(768, 0.0f);
  for (int i = 0; i < 256; ++i) x.data_ptr<float>()[256 + i] = static_cast<float>(i + 1);
  x.narrow(0, 512, 256).fill_(5.0);
  const QuantSpec spec{GetParam(), 256};
  const PackedTensor packed = ops::Quantize(x, spec, 0, nullptr);
  EXPECT_TRUE(packed.scales.isfinite().all().item<bool>());
  const at::Tensor loaded = ops::Dequantize(packed, at::kFloat);
  EXPECT_TRUE(SameBits(loaded.narrow(0, 0, 256).contiguous(), Filled(256, 0.0f)));
  EXPECT_TRUE(SameBits(loaded.narrow(0, 512, 256).contiguous(), Filled(256, 5.0f)));
  const at::Tensor alone = StoreAndLoad(x.narrow(0, 256, 256), spec);
  EXPECT_TRUE(SameBits(loaded.narrow(0, 256, 256).contiguous(), alone));
}

TEST_P(StoreTest, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor x = Gaussian(1 << 20, 7);
  x.data_ptr<float>()[900000] = NAN;
  x.data_ptr<float>()[5] = INFINITY;
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  NonFinite one_record;
  const PackedTensor one = ops::Quantize(x, {GetParam(), 128}, 3, &one_record);
  at::set_num_threads(4);
  NonFinite four_record;
  const PackedTensor four = ops::Quantize(x, {GetParam(), 128}, 3, &four_record);
  at::set_num_threads(before);
  EXPECT_TRUE(SameBits(one.codes, four.codes));
  EXPECT_TRUE(SameBits(one.scales, four.scales));
  EXPECT_EQ(one_record, four_record);
}

TEST(PackingTest, Nf4BookIsThePublishedOne) {
  ASSERT_EQ(ref::kNf4Book.size(), test::Nf4Values().size());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(ref::kNf4Book[i], test::Nf4Values()[i]) << i;
}

TEST(PackingTest, Int8BookIsExactlyOneAtTheMaximum) {
  EXPECT_EQ(ref::BookValue(Format::kInt8, 127), 1.0f);
  EXPECT_EQ(ref::BookValue(Format::kInt8, static_cast<std::uint8_t>(-127)), -1.0f);
}

// Fault case Q-06.
TEST(PackingTest, TakesAsManyBytesAsTheBitsNeed) {
  const std::int64_t lengths[] = {5, 7, 1001};
  const std::int64_t nf4_bytes[] = {3, 4, 501};
  for (int i = 0; i < 3; ++i) {
    const at::Tensor x = Gaussian(lengths[i], 8);
    EXPECT_EQ(ops::Quantize(x, kNf4, 0, nullptr).codes.numel(), nf4_bytes[i]);
    EXPECT_EQ(ops::Quantize(x, kInt8, 0, nullptr).codes.numel(), lengths[i]);
  }
}

// Fault case Q-06.
TEST(PackingTest, EvenElementIsTheLowNibble) {
  const at::Tensor x = at::empty({7}, at::kFloat);
  const int codes[] = {15, 0, 9, 4, 1, 2, 7};
  for (int i = 0; i < 7; ++i) x.data_ptr<float>()[i] = test::Nf4Values()[codes[i]];
  const PackedTensor packed = ops::Quantize(x, kNf4, 0, nullptr);
  const std::uint8_t expected[] = {0x0f, 0x49, 0x21, 0x07};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(packed.codes.data_ptr<std::uint8_t>()[i], expected[i]);
}

TEST(PackingTest, TieGoesToTheLowerNf4EntryAndToTheEvenInteger) {
  const at::Tensor x = at::empty({16}, at::kFloat);
  for (int i = 0; i < 15; ++i) x.data_ptr<float>()[i] = ref::kNf4MidPoints[i];
  x.data_ptr<float>()[15] = 1.0f;
  const PackedTensor nf4 = ops::Quantize(x, kNf4, 0, nullptr);
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(CodeAt(Format::kNf4, nf4.codes.data_ptr<std::uint8_t>(), i), i);
  }
  const at::Tensor halves = at::tensor({128.0f, 64.0f, -64.0f});  // 63.5 after scaling
  const PackedTensor int8 = ops::Quantize(halves, kInt8, 0, nullptr);
  EXPECT_EQ(CodeAt(Format::kInt8, int8.codes.data_ptr<std::uint8_t>(), 1), 64);
  EXPECT_EQ(CodeAt(Format::kInt8, int8.codes.data_ptr<std::uint8_t>(), 2), -64);
}

TEST(PackingTest, CountsItsBytesAndKeepsItsSizes) {
  const PackedTensor packed = ops::Quantize(Gaussian(6 * 50, 9).view({6, 50}), kNf4, 0, nullptr);
  EXPECT_EQ(packed.bytes(), PackedBytes(kNf4, 300));
  EXPECT_EQ(ops::Dequantize(packed, at::kDouble).sizes(), at::IntArrayRef({6, 50}));
  EXPECT_EQ(PackedTensor{}.bytes(), 0);
}

TEST(PackingTest, EmptyTensorStoresNothing) {
  const PackedTensor packed = ops::Quantize(at::empty({0, 4}, at::kFloat), kNf4, 0, nullptr);
  EXPECT_EQ(packed.bytes(), 0);
  EXPECT_EQ(ops::Dequantize(packed, at::kFloat).numel(), 0);
}

TEST(PackingTest, BlocksAreSharedAmongThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  ops::ForBlocks(kNf4, 1 << 20, [&](ref::BlockRange) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  at::set_num_threads(before);
  EXPECT_EQ(threads.size(), 2u);
}

}  // namespace
}  // namespace agoq
