// Sums over ranks: quantized, exact and small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "tests/unit/comm/rank_group.h"
#include "worker/comm/all_gather_values.h"
#include "worker/comm/quantized_reduce.h"
#include "worker/plan/reduce_workspace.h"

namespace agoq::testing {
namespace {

using ::testing::Each;

constexpr std::int64_t kBlock = 256;
constexpr QuantSpec kSpec{Format::kInt8, kBlock};

// int8 blocks in plain code, after the formulas: scale = largest magnitude, y = x / scale by one
// reciprocal, code = round half even of 127 y, decoded value = scale * (code * fl(1/127)), exactly
// the scale at 127.
struct Packed {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;

  QuantizedView View() {
    return {.codes = codes.data(),
            .scales = scales.data(),
            .spec = kSpec,
            .num_elements = static_cast<std::int64_t>(codes.size())};
  }
  float At(std::size_t i) const {
    const auto code = static_cast<std::int8_t>(codes[i]);
    const float book = std::abs(code) == 127 ? (code < 0 ? -1.0f : 1.0f)
                                             : static_cast<float>(code) * (1.0f / 127.0f);
    return scales[i / kBlock] * book;
  }
  bool operator==(const Packed&) const = default;
};

Packed Pack(const std::vector<float>& values) {
  Packed packed{std::vector<std::uint8_t>(values.size()),
                std::vector<float>(values.size() / kBlock)};
  for (std::size_t b = 0; b < packed.scales.size(); ++b) {
    float scale = 0.0f;
    for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; ++i) {
      scale = std::max(scale, std::abs(values[i]));
    }
    packed.scales[b] = scale;
    if (scale == 0.0f) continue;
    const float inverse = 1.0f / scale;
    for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; ++i) {
      const float code = std::clamp(std::nearbyint(values[i] * inverse * 127.0f), -127.0f, 127.0f);
      packed.codes[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(code));
    }
  }
  return packed;
}

std::vector<float> Gaussian(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<Packed> GaussianRanks(int world, std::size_t count) {
  std::vector<Packed> ranks;
  for (int r = 0; r < world; ++r) ranks.push_back(Pack(Gaussian(count, 100u + r)));
  return ranks;
}

// The formula, element by element: fp32 sum in rank order, times the factor, packed again.
Packed Expected(const std::vector<Packed>& ranks, double factor) {
  std::vector<float> sums(ranks[0].codes.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    float sum = ranks[0].At(i);
    for (std::size_t r = 1; r < ranks.size(); ++r) sum += ranks[r].At(i);
    sums[i] = sum * static_cast<float>(factor);
  }
  return Pack(sums);
}

std::vector<Packed> Reduce(Transport transport, std::vector<Packed> ranks,
                           const ReduceOptions& options) {
  const auto errors =
      ErrorsOfRanks(transport, static_cast<int>(ranks.size()), [&](Communicator& communicator) {
        QuantizedAllReduce(communicator, ranks[communicator.rank()].View(), options);
      });
  EXPECT_THAT(errors, Each(""));
  return ranks;
}

class QuantizedAllReduceTest : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(QuantizedAllReduceTest, FollowsTheFormulaToTheBitOnAllRanks) {
  const auto [world, blocks] = GetParam();
  const std::vector<Packed> ranks = GaussianRanks(world, blocks * kBlock);
  const double factor = 1.0 / world;
  const Packed expected = Expected(ranks, factor);
  for (std::int64_t bucket : {kBlock, 5 * kBlock + 100, std::int64_t{4} << 20}) {
    const std::vector<Packed> reduced =
        Reduce(Transport::kLocal, ranks, {.bucket_elements = bucket, .factor = factor});
    EXPECT_THAT(reduced, Each(expected)) << "bucket of " << bucket << " elements";
  }
}

TEST_P(QuantizedAllReduceTest, StaysNearTheSumInFp64) {
  const auto [world, blocks] = GetParam();
  const std::vector<Packed> ranks = GaussianRanks(world, blocks * kBlock);
  const Packed reduced = Reduce(Transport::kLocal, ranks, {})[0];
  for (std::size_t i = 0; i < reduced.codes.size(); ++i) {
    double sum = 0.0;
    for (const Packed& rank : ranks) sum += rank.At(i);
    // Half a code step of the result, and the roundings of an fp32 sum.
    ASSERT_NEAR(reduced.At(i), sum, reduced.scales[i / kBlock] * (0.5 / 127.0 + 1e-5));
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, QuantizedAllReduceTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 8),
                                            ::testing::Values(1, 7, 24, 37)));

TEST(QuantizedAllReduceGlooTest, GivesTheBitsOfTheLocalGroup) {
  for (int world : {2, 3}) {
    const std::vector<Packed> ranks = GaussianRanks(world, 37 * kBlock);
    const ReduceOptions options{.bucket_elements = 5 * kBlock, .factor = 1.0 / world};
    EXPECT_THAT(Reduce(Transport::kGloo, ranks, options), Each(Expected(ranks, 1.0 / world)));
  }
}

TEST(QuantizedAllReduceOneRankTest, FactorOneLeavesTheBits) {
  const Packed packed = Pack(Gaussian(3 * kBlock, 1));
  EXPECT_EQ(Reduce(Transport::kLocal, {packed}, {})[0], packed);
}

TEST(QuantizedAllReduceCheckTest, RefusesWhatIsNotWholeBlocks) {
  LocalGroup group(1);
  const auto communicator = group.Join(0);
  Packed packed = Pack(Gaussian(kBlock, 1));
  QuantizedView view = packed.View();
  view.num_elements = 100;
  EXPECT_THROW(QuantizedAllReduce(*communicator, view, {}), std::invalid_argument);
  EXPECT_THROW(QuantizedAllReduce(*communicator, packed.View(), {.factor = 0.0}),
               std::invalid_argument);
  EXPECT_THROW(QuantizedAllReduce(*communicator, packed.View(), {.bucket_elements = 0}),
               std::invalid_argument);
}

// Fault case G-07 (a): the sum must not leave the range of the stored format.
TEST(QuantizedAllReduceFaultTest, SumOfFourTimes400Is1600AndItsMean400) {
  const std::vector<Packed> ranks(4, Pack(std::vector<float>(kBlock, 400.0f)));
  for (const auto& [factor, value] : {std::pair(1.0, 1600.0f), std::pair(0.25, 400.0f)}) {
    for (const Packed& rank : Reduce(Transport::kLocal, ranks, {.factor = factor})) {
      for (std::size_t i = 0; i < kBlock; ++i) ASSERT_EQ(rank.At(i), value);
    }
  }
}

// Fault case G-07 (b): partial sums in a small format lose the ones.
TEST(QuantizedAllReduceFaultTest, SumOf256AndSevenOnesIs263) {
  std::vector<Packed> ranks(8, Pack(std::vector<float>(kBlock, 1.0f)));
  ranks[0] = Pack(std::vector<float>(kBlock, 256.0f));
  for (const Packed& rank : Reduce(Transport::kLocal, ranks, {})) {
    for (std::size_t i = 0; i < kBlock; ++i) ASSERT_EQ(rank.At(i), 263.0f);
  }
}

// Fault case G-14: after every reduction the bytes are the same on all ranks.
TEST(QuantizedAllReduceFaultTest, HashIsEqualOnAllRanksAfterEveryReduction) {
  constexpr int kWorld = 4;
  std::vector<Packed> ranks = GaussianRanks(kWorld, 10 * kBlock);
  const auto errors = ErrorsOfRanks(Transport::kGloo, kWorld, [&](Communicator& communicator) {
    Packed& packed = ranks[communicator.rank()];
    for (int step = 0; step < 5; ++step) {
      packed = Pack(Gaussian(10 * kBlock, 10u * step + communicator.rank()));
      QuantizedAllReduce(communicator, packed.View(), {.bucket_elements = 3 * kBlock});
      const std::string bytes(reinterpret_cast<const char*>(packed.scales.data()),
                              packed.scales.size() * sizeof(float));
      const std::size_t hash =
          std::hash<std::string>()(bytes + std::string(packed.codes.begin(), packed.codes.end()));
      EXPECT_THAT(AllGatherValues(communicator, hash, kPlenty), Each(hash));
    }
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(QuantizedAllReduceErrorTest, MeanOfTwoRanksAndEightMicroBatchesIsWithin170PerTenThousand) {
  constexpr int kWorld = 2;
  constexpr int kMicroBatches = 8;
  constexpr std::size_t kElements = 256 * kBlock;
  std::vector<double> exact(kElements);
  std::vector<Packed> ranks;
  for (unsigned r = 0; r < kWorld; ++r) {
    // The gradient store: each micro-batch is added in fp32 and stored again.
    Packed stored = Pack(std::vector<float>(kElements));
    for (unsigned m = 0; m < kMicroBatches; ++m) {
      std::vector<float> sum = Gaussian(kElements, 1000 + 100 * r + m);
      for (std::size_t i = 0; i < kElements; ++i) {
        exact[i] += static_cast<double>(sum[i]) / kWorld;
        sum[i] += stored.At(i);
      }
      stored = Pack(sum);
    }
    ranks.push_back(std::move(stored));
  }
  const Packed mean = Reduce(Transport::kLocal, ranks, {.factor = 1.0 / kWorld})[0];
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < kElements; ++i) {
    error += (mean.At(i) - exact[i]) * (mean.At(i) - exact[i]);
    norm += exact[i] * exact[i];
  }
  const double relative = std::sqrt(error / norm);
  RecordProperty("relative_error", std::to_string(relative));
  EXPECT_LE(relative, 0.0170);
  EXPECT_GE(relative, 0.0100) << "smaller than rounding allows: the test is wrong";
}

// Bytes of all ranks against bf16 reduce-scatter and all-gather, which move 2 (W - 1) / W elements
// of 2 bytes a rank.
TEST(QuantizedAllReduceWireTest, MovesAtMost0515OfBf16) {
  constexpr std::int64_t kElements = std::int64_t{3} << 20;
  for (const auto& [transport, world] :
       {std::pair(Transport::kLocal, 4), std::pair(Transport::kGloo, 2)}) {
    std::vector<Packed> ranks(world, Packed{std::vector<std::uint8_t>(kElements),
                                            std::vector<float>(kElements / kBlock)});
    std::vector<std::uint64_t> sent(world);
    const auto errors = ErrorsOfRanks(transport, world, [&](Communicator& communicator) {
      QuantizedAllReduce(communicator, ranks[communicator.rank()].View(),
                         {.bucket_elements = std::int64_t{1} << 20});
      sent[communicator.rank()] = communicator.bytes_sent();
    });
    EXPECT_THAT(errors, Each(""));
    double total = 0.0;
    for (std::uint64_t bytes : sent) total += static_cast<double>(bytes);
    const double bf16 = 2.0 * (world - 1) * static_cast<double>(kElements) * 2.0;
    EXPECT_LE(total / bf16, 0.515) << NameOf(transport);
    EXPECT_GE(total / bf16, 0.500) << NameOf(transport);
  }
}

template <typename T>
class ExactReduceTest : public ::testing::Test {
 protected:
  static std::vector<std::vector<T>> Ranks(int world, std::size_t count) {
    std::vector<std::vector<T>> ranks;
    for (int r = 0; r < world; ++r) {
      const std::vector<float> values = Gaussian(count, 200u + r);
      ranks.emplace_back(values.begin(), values.end());
    }
    return ranks;
  }
  static std::vector<T> Expected(const std::vector<std::vector<T>>& ranks, double factor) {
    std::vector<T> sums = ranks[0];
    for (std::size_t r = 1; r < ranks.size(); ++r) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += ranks[r][i];
    }
    for (T& sum : sums) sum *= static_cast<T>(factor);
    return sums;
  }
};

using ExactTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExactReduceTest, ExactTypes);

TYPED_TEST(ExactReduceTest, ExactAllReduceIsTheSequentialSumOnAllRanks) {
  for (int world : {1, 2, 3, 4, 8}) {
    for (std::size_t count : {0, 1, 5, 1000, 1003}) {
      auto ranks = this->Ranks(world, count);
      const auto expected = this->Expected(ranks, 0.3);
      const auto errors = ErrorsOfRanks(Transport::kLocal, world, [&](Communicator& communicator) {
        ExactAllReduce(communicator, std::span(ranks[communicator.rank()]),
                       {.bucket_elements = 100, .factor = 0.3});
      });
      EXPECT_THAT(errors, Each(""));
      EXPECT_THAT(ranks, Each(expected)) << world << " ranks, " << count << " elements";
    }
  }
}

TYPED_TEST(ExactReduceTest, ExactAllReduceOverGlooIsTheSequentialSum) {
  auto ranks = this->Ranks(3, 5000);
  const auto expected = this->Expected(ranks, 1.0);
  const auto errors = ErrorsOfRanks(Transport::kGloo, 3, [&](Communicator& communicator) {
    ExactAllReduce(communicator, std::span(ranks[communicator.rank()]), {.bucket_elements = 999});
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_THAT(ranks, Each(expected));
}

TYPED_TEST(ExactReduceTest, SmallAllReduceIsTheSequentialSumOnAllRanks) {
  for (int world : {1, 2, 3, 4}) {
    auto ranks = this->Ranks(world, 101);
    const auto expected = this->Expected(ranks, 0.3);
    const auto errors = ErrorsOfRanks(Transport::kLocal, world, [&](Communicator& communicator) {
      SmallAllReduce(communicator, std::span(ranks[communicator.rank()]), {.factor = 0.3});
    });
    EXPECT_THAT(errors, Each(""));
    EXPECT_THAT(ranks, Each(expected)) << world << " ranks";
  }
}

TEST(ReducePartitionTest, SharesCoverEachUnitOnce) {
  for (std::int64_t world : {1, 2, 3, 8}) {
    for (std::int64_t units : {0, 1, 7, 100}) {
      const ReducePartition partition{.num_units = units, .bucket_units = 9, .world = world};
      std::int64_t next = 0;
      for (std::int64_t b = 0; b < partition.num_buckets(); ++b) {
        for (std::int64_t r = 0; r < world; ++r) {
          const ReducePartition::Range share = partition.Share(b, r);
          EXPECT_EQ(share.begin, next);
          EXPECT_LE(share.count, partition.max_share());
          next += share.count;
        }
      }
      EXPECT_EQ(next, units);
    }
  }
}

TEST(ReduceWorkspaceTest, IsTwoHalvesForEachBucketInFlight) {
  // 10 buckets of 1 Mi elements on two ranks: a share is 512 Ki codes and 2048 scales.
  EXPECT_EQ(ReduceWorkspaceBytes(10 << 20, 256, 2, 1 << 20), 2 * 2 * (524288 + 2048 * 4));
  // A single bucket takes one slot; one rank takes none.
  EXPECT_EQ(ReduceWorkspaceBytes(1 << 20, 256, 4, 4 << 20), 2 * 3 * (262144 + 1024 * 4));
  EXPECT_EQ(ReduceWorkspaceBytes(1 << 20, 256, 1, 4 << 20), 0);
}

}  // namespace
}  // namespace agoq::testing
