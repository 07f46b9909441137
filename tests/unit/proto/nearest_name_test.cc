#include "proto/common/nearest_name.h"

#include <gtest/gtest.h>

namespace agoq {
namespace {

TEST(NearestName, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("beta", "btea"), 1u);
  EXPECT_EQ(EditDistance("rate", "rates"), 1u);
}

TEST(NearestName, FindsTheNameThatWasMeant) {
  EXPECT_EQ(NearestName("learning_rat", {"beta1", "learning_rate", "epsilon"}), "learning_rate");
}

TEST(NearestName, OffersNothingFarFetched) {
  EXPECT_EQ(NearestName("zzzzzz", {"beta1", "learning_rate"}), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

}  // namespace
}  // namespace agoq
