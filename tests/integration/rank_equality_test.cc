// The same training, whatever the ranks: one rank with several micro-batches, or several ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/local_training.h"
#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

struct Layout {
  int num_ranks = 1;
  std::int64_t micro_batches = 1;
  Transport transport = Transport::kLocal;
};

class RankEqualityTest : public testing::Test {
 protected:
  RankEqualityTest() { WriteSyntheticText(folder_ / "text", 20000, 1); }

  std::vector<double> Losses(const Layout& layout, std::optional<QuantSpec> gradient_spec) {
    TrainOptions options = SmallTraining(layout.num_ranks);
    options.data_prefix = folder_ / "text";
    options.steps = 20;
    options.micro_batches = layout.micro_batches;
    options.gradient_spec = gradient_spec;
    const std::vector<TrainReport> reports = RunTraining(options, {.transport = layout.transport});
    for (const TrainReport& report : reports) EXPECT_EQ(report.losses, reports[0].losses);
    return reports[0].losses;
  }

  TemporaryFolder folder_;
};

constexpr QuantSpec kInt8 = {Format::kInt8, kGradientBlock};

TEST_F(RankEqualityTest, TwoRanksEqualTwoMicroBatchesToTheBitWithExactGradients) {
  const std::vector<double> one = Losses({.micro_batches = 2}, std::nullopt);
  ASSERT_EQ(one.size(), 20u);
  EXPECT_LT(one.back(), one.front());
  EXPECT_EQ(Losses({.num_ranks = 2}, std::nullopt), one);
  EXPECT_EQ(Losses({.num_ranks = 2, .transport = Transport::kGloo}, std::nullopt), one);
}

TEST_F(RankEqualityTest, TwoRanksFollowTwoMicroBatchesWith8BitGradients) {
  const std::vector<double> one = Losses({.micro_batches = 2}, kInt8);
  const std::vector<double> two = Losses({.num_ranks = 2}, kInt8);
  for (std::size_t step = 0; step < one.size(); ++step) {
    EXPECT_NEAR(two[step], one[step], 1e-3) << "step " << step;
  }
  EXPECT_EQ(Losses({.num_ranks = 2, .transport = Transport::kGloo}, kInt8), two);
}

TEST_F(RankEqualityTest, EightBitGradientsFollowExactOnes) {
  const std::vector<double> exact = Losses({}, std::nullopt);
  const std::vector<double> packed = Losses({}, kInt8);
  for (std::size_t step = 0; step < exact.size(); ++step) {
    EXPECT_NEAR(packed[step], exact[step], 1e-3) << "step " << step;
  }
}

TEST_F(RankEqualityTest, GlooEqualsLocalForThreeAndFourRanks) {
  for (const int num_ranks : {3, 4}) {
    for (const std::optional<QuantSpec>& spec :
         {std::optional<QuantSpec>(), std::optional(kInt8)}) {
      EXPECT_EQ(Losses({.num_ranks = num_ranks, .transport = Transport::kGloo}, spec),
                Losses({.num_ranks = num_ranks}, spec))
          << num_ranks << " ranks";
    }
  }
}

TEST_F(RankEqualityTest, FourRanksFollowFourMicroBatches) {
  for (const std::optional<QuantSpec>& spec : {std::optional<QuantSpec>(), std::optional(kInt8)}) {
    const std::vector<double> one = Losses({.micro_batches = 4}, spec);
    const std::vector<double> four = Losses({.num_ranks = 4}, spec);
    const double tolerance = spec.has_value() ? 1e-3 : 0;
    for (std::size_t step = 0; step < one.size(); ++step) {
      EXPECT_NEAR(four[step], one[step], tolerance) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace agoq
