#include "server/rendezvous.h"

#include <gtest/gtest.h>

#include <optional>

namespace agoq {
namespace {

v1::RankId Rank(std::int64_t generation, std::int64_t rank = 0) {
  v1::RankId id;
  id.set_job_id("job");
  id.set_generation(generation);
  id.set_rank(rank);
  return id;
}

class RendezvousTest : public ::testing::Test {
 protected:
  RendezvousTest() { rendezvous_.Open("job", 2); }

  void WaitFor(const std::string& key, std::int64_t generation = 2) {
    rendezvous_.Wait(Rank(generation), key,
                     [this](absl::StatusOr<std::string> value) { heard_ = std::move(value); });
  }

  Rendezvous rendezvous_;
  std::optional<absl::StatusOr<std::string>> heard_;
};

TEST_F(RendezvousTest, GivesAKeyThatIsThereAtOnce) {
  ASSERT_TRUE(rendezvous_.Set(Rank(2), "a", "1").ok());
  WaitFor("a");
  ASSERT_TRUE(heard_.has_value());
  EXPECT_EQ(heard_->value(), "1");
}

TEST_F(RendezvousTest, GivesAKeyToThoseWhoWaitForIt) {
  WaitFor("a");
  EXPECT_FALSE(heard_.has_value());
  ASSERT_TRUE(rendezvous_.Set(Rank(2), "a", "1").ok());
  EXPECT_EQ(heard_.value().value(), "1");
}

TEST_F(RendezvousTest, RefusesAnOlderGeneration) {
  EXPECT_EQ(rendezvous_.Set(Rank(1), "a", "1").code(), absl::StatusCode::kAborted);
  WaitFor("a", 1);
  EXPECT_EQ(heard_.value().status().code(), absl::StatusCode::kAborted);
}

TEST_F(RendezvousTest, TakesTheSameValueTwiceButNoOther) {
  ASSERT_TRUE(rendezvous_.Set(Rank(2), "a", "1").ok());
  EXPECT_TRUE(rendezvous_.Set(Rank(2), "a", "1").ok());
  EXPECT_EQ(rendezvous_.Set(Rank(2), "a", "2").code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(RendezvousTest, TellsThoseWhoWaitThatTheAttemptIsOver) {
  WaitFor("a");
  rendezvous_.Open("job", 3);
  EXPECT_EQ(heard_.value().status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace agoq
