#include "server/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agoq {
namespace {

using ::testing::HasSubstr;

WorkerOffer Offer(const std::string& name, std::int64_t free, std::int64_t total = 0) {
  return {.worker = name, .free_bytes = free, .total_bytes = total == 0 ? free : total};
}

TEST(Placement, GivesTheFirstRankToTheWorkerWithTheMostMemory) {
  const GangPlacement placed =
      PlaceGang({.num_ranks = 2, .least_bytes = 10}, {Offer("a", 20), Offer("b", 30)});
  ASSERT_EQ(placed.placements.size(), 2U);
  EXPECT_EQ(placed.placements[0].worker(), "b");
  EXPECT_EQ(placed.placements[0].rank(), 0);
  EXPECT_EQ(placed.placements[0].budget_bytes(), 30);
  EXPECT_EQ(placed.placements[1].worker(), "a");
}

TEST(Placement, OrdersEqualWorkersByName) {
  const GangPlacement placed =
      PlaceGang({.num_ranks = 2, .least_bytes = 10}, {Offer("b", 20), Offer("a", 20)});
  EXPECT_EQ(placed.placements[0].worker(), "a");
}

TEST(Placement, PlacesTheWholeGangOrNobody) {
  const GangPlacement placed =
      PlaceGang({.num_ranks = 3, .least_bytes = 10}, {Offer("a", 20), Offer("b", 20)});
  EXPECT_TRUE(placed.placements.empty());
  EXPECT_EQ(placed.reason, v1::JOB_REASON_INSUFFICIENT_WORKERS);
}

TEST(Placement, NamesWhatEachWorkerLacks) {
  WorkerOffer shared = Offer("a", 2 << 20, 8 << 20);
  shared.foreign_bytes = 6 << 20;
  WorkerOffer busy = Offer("c", 9 << 20);
  busy.why_not = "works for job x";
  const GangPlacement placed =
      PlaceGang({.num_ranks = 2, .least_bytes = 4 << 20}, {shared, Offer("b", 5 << 20), busy});
  EXPECT_TRUE(placed.placements.empty());
  EXPECT_EQ(placed.reason, v1::JOB_REASON_INSUFFICIENT_MEMORY);
  EXPECT_THAT(placed.message, HasSubstr("needs 2 workers with at least 4.0 MiB each"));
  EXPECT_THAT(placed.message, HasSubstr("a has 2.0 MiB free of 8.0 MiB (6.0 MiB used by others)"));
  EXPECT_THAT(placed.message, HasSubstr("b has 5.0 MiB free of 5.0 MiB, enough"));
  EXPECT_THAT(placed.message, HasSubstr("c works for job x"));
}

TEST(Placement, SaysThatNoWorkerIsConnected) {
  const GangPlacement placed = PlaceGang({.num_ranks = 1, .least_bytes = 1}, {});
  EXPECT_THAT(placed.message, HasSubstr("start agoq-worker"));
}

TEST(Placement, BoundsTheBudgetByTheJobsOwn) {
  const GangPlacement placed =
      PlaceGang({.num_ranks = 1, .least_bytes = 10, .budget_bytes = 15}, {Offer("a", 20)});
  EXPECT_EQ(placed.placements[0].budget_bytes(), 15);
}

TEST(Placement, TakesAnIdleClusterForWhatOthersDoNotUse) {
  WorkerOffer busy = Offer("a", 0, 100);
  busy.foreign_bytes = 30;
  busy.why_not = "works for job x";
  const GangPlacement placed = PlaceOnIdleCluster({.num_ranks = 1, .least_bytes = 70}, {busy});
  ASSERT_EQ(placed.placements.size(), 1U);
  EXPECT_EQ(placed.placements[0].budget_bytes(), 70);
  EXPECT_TRUE(PlaceOnIdleCluster({.num_ranks = 1, .least_bytes = 71}, {busy}).placements.empty());
}

}  // namespace
}  // namespace agoq
