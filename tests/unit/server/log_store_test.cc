#include "server/log_store.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

v1::RankId Rank() {
  v1::RankId id;
  id.set_job_id("01234567-89ab-4def-8123-456789abcdef");
  id.set_generation(1);
  return id;
}

class LogStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  LogStore logs_{folder_.path()};
};

TEST_F(LogStoreTest, ReadsWhatWasAppended) {
  EXPECT_EQ(logs_.Append(Rank(), 0, "one\n").value(), 4);
  EXPECT_EQ(logs_.Append(Rank(), 4, "two\n").value(), 8);
  EXPECT_EQ(logs_.Read(Rank(), 2, 100), "e\ntwo\n");
  EXPECT_EQ(logs_.Read(Rank(), 8, 100), "");
}

TEST_F(LogStoreTest, SkipsWhatItHas) {
  ASSERT_TRUE(logs_.Append(Rank(), 0, "abcd").ok());
  EXPECT_EQ(logs_.Append(Rank(), 2, "cdef").value(), 6);
  EXPECT_EQ(logs_.Append(Rank(), 0, "ab").value(), 6);
  EXPECT_EQ(logs_.Read(Rank(), 0, 100), "abcdef");
}

TEST_F(LogStoreTest, RefusesAGap) {
  EXPECT_EQ(logs_.Append(Rank(), 1, "x").status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(LogStoreTest, RefusesAJobIdThatLeavesItsFolder) {
  v1::RankId id = Rank();
  id.set_job_id("../../etc");
  EXPECT_EQ(logs_.Append(id, 0, "x").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(LogStoreTest, FindsTheLastLines) {
  ASSERT_TRUE(logs_.Append(Rank(), 0, "one\ntwo\nthree\n").ok());
  EXPECT_EQ(logs_.TailOffset(Rank(), 0), 0);
  EXPECT_EQ(logs_.TailOffset(Rank(), 1), 8);
  EXPECT_EQ(logs_.TailOffset(Rank(), 2), 4);
  EXPECT_EQ(logs_.TailOffset(Rank(), 9), 0);
}

}  // namespace
}  // namespace agoq
