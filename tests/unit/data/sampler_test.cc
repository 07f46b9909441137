#include "worker/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/unit/data/written_dataset.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Samples = std::vector<std::int64_t>;

Samples Permutation(std::int64_t size, std::uint64_t key) {
  Samples order;
  for (std::int64_t i = 0; i < size; ++i) order.push_back(PermutedIndex(i, size, key));
  return order;
}

Samples Sorted(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

Samples SamplesOfEpoch(const Sampler& sampler, std::int64_t epoch) {
  Samples samples;
  const std::int64_t first = epoch * sampler.samples_per_epoch();
  for (std::int64_t i = 0; i < sampler.samples_per_epoch(); ++i) {
    const SampleId id = sampler.SampleAt(first + i);
    EXPECT_EQ(id.epoch, epoch);
    samples.push_back(id.sample);
  }
  return samples;
}

TEST(PermutedIndexTest, IsAPermutationOfEverySize) {
  for (std::int64_t size = 1; size <= 300; ++size) {
    EXPECT_EQ(Sorted(Permutation(size, 5)), Counted(size)) << size;
  }
}

TEST(PermutedIndexTest, DependsOnTheKey) { EXPECT_NE(Permutation(100, 1), Permutation(100, 2)); }

TEST(PermutedIndexTest, StaysInsideOfALargeSize) {
  constexpr std::int64_t kSize = (std::int64_t{1} << 40) + 1;
  std::set<std::int64_t> seen;
  for (std::int64_t i = kSize - 1000; i < kSize; ++i) {
    const std::int64_t value = PermutedIndex(i, kSize, 9);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, kSize);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

// Of uniform orders: the mean of (place - sample)^2 is size^2 / 6, here 166666 +- 4 %.
TEST(PermutedIndexTest, CarriesSamplesFarFromTheirPlace) {
  const Samples order = Permutation(1000, 3);
  double sum = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    sum += static_cast<double>((order[i] - i) * (order[i] - i));
  }
  EXPECT_NEAR(sum / 1000, 1e6 / 6, 1e6 / 6 * 0.2);
}

TEST(SamplerTest, EachEpochHasAnOrderOfItsOwn) {
  const Sampler sampler({.num_samples = 50, .batch_size = 5, .seed = 3});
  const Samples first = SamplesOfEpoch(sampler, 0);
  const Samples second = SamplesOfEpoch(sampler, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(Sorted(first), Counted(50));
  EXPECT_EQ(Sorted(second), Counted(50));
}

TEST(SamplerTest, TheSeedChangesTheOrder) {
  const Sampler one({.num_samples = 50, .seed = 3});
  const Sampler other({.num_samples = 50, .seed = 4});
  EXPECT_NE(SamplesOfEpoch(one, 0), SamplesOfEpoch(other, 0));
}

TEST(SamplerTest, TheNextSeedIsNotTheNextEpoch) {
  const Sampler one({.num_samples = 50, .seed = 3});
  const Sampler other({.num_samples = 50, .seed = 4});
  EXPECT_NE(SamplesOfEpoch(one, 1), SamplesOfEpoch(other, 0));
}

TEST(SamplerTest, AnEpochIsWholeBatchesWithoutRepeats) {
  const Sampler sampler({.num_samples = 53, .batch_size = 10, .seed = 3});
  EXPECT_EQ(sampler.samples_per_epoch(), 50);
  const Samples samples = SamplesOfEpoch(sampler, 0);
  EXPECT_EQ(std::set<std::int64_t>(samples.begin(), samples.end()).size(), 50u);
}

TEST(SamplerTest, DropsOtherSamplesEachEpoch) {
  const Sampler sampler({.num_samples = 53, .batch_size = 10, .seed = 3});
  EXPECT_NE(Sorted(SamplesOfEpoch(sampler, 0)), Sorted(SamplesOfEpoch(sampler, 1)));
}

TEST(SamplerTest, RefusesABatchLargerThanTheData) {
  EXPECT_THAT(
      ErrorOf<std::invalid_argument>([] { Sampler sampler({.num_samples = 7, .batch_size = 8}); }),
      AllOf(HasSubstr("7 samples"), HasSubstr("8"), HasSubstr("smaller batches")));
}

TEST(SamplerTest, RefusesABatchOfNoSamples) {
  EXPECT_THROW(Sampler({.num_samples = 7, .batch_size = 0}), std::invalid_argument);
}

// The samples of one rank of four, two a step, as the loader numbers them.
Samples SamplesOfRank(const Sampler& sampler, std::int64_t epoch, std::int64_t rank) {
  Samples samples;
  for (std::int64_t step = 0; step < 125; ++step) {
    for (std::int64_t row = 0; row < 2; ++row) {
      const std::int64_t index = epoch * 1000 + (step * 4 + rank) * 2 + row;
      samples.push_back(sampler.SampleAt(index).sample);
    }
  }
  return samples;
}

Samples SamplesOfFourRanks(std::uint64_t seed, std::int64_t epoch) {
  Samples all;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    // Each rank has a sampler of its own, as in its own process.
    const Sampler sampler({.num_samples = 1000, .batch_size = 8, .seed = seed});
    const Samples samples = SamplesOfRank(sampler, epoch, rank);
    EXPECT_EQ(samples.size(), 250u);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return all;
}

TEST(SamplerTest, D05FourRanksShareAnEpochWithoutOverlap) {
  EXPECT_EQ(Sorted(SamplesOfFourRanks(42, 0)), Counted(1000));
}

TEST(SamplerTest, D05TheNextEpochHasAnotherOrder) {
  EXPECT_NE(SamplesOfFourRanks(42, 0), SamplesOfFourRanks(42, 1));
  EXPECT_EQ(Sorted(SamplesOfFourRanks(42, 1)), Counted(1000));
}

TEST(SamplerTest, D05TheSameSeedGivesTheSameOrder) {
  EXPECT_EQ(SamplesOfFourRanks(42, 1), SamplesOfFourRanks(42, 1));
}

}  // namespace
}  // namespace agoq
