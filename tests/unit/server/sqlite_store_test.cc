#include "server/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

v1::Job NewJob(const std::string& id, std::int64_t sequence) {
  v1::Job job;
  job.set_id(id);
  job.set_sequence(sequence);
  job.mutable_spec()->set_name("name-" + id);
  job.mutable_status()->set_state(v1::JOB_STATE_QUEUED);
  return job;
}

v1::Event EventOf(std::int64_t sequence, const std::string& job) {
  v1::Event event;
  event.set_sequence(sequence);
  event.set_job_id(job);
  return event;
}

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStoreTest() { Open(); }

  void Open() {
    store_.reset();
    store_ = *SqliteStore::Open(folder_.path());
    epoch_ = *store_->BeginEpoch();
  }

  absl::Status Put(const v1::Job& job) {
    return store_->Transaction(epoch_, [&](StoreWriter& writer) { writer.PutJob(job); });
  }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  std::int64_t epoch_ = 0;
};

TEST_F(SqliteStoreTest, GivesBackJobsInTheOrderOfSubmission) {
  ASSERT_TRUE(Put(NewJob("b", 1)).ok());
  ASSERT_TRUE(Put(NewJob("a", 2)).ok());
  Open();
  const StoredState state = *store_->Load();
  ASSERT_EQ(state.jobs.size(), 2U);
  EXPECT_EQ(state.jobs[0].id(), "b");
  EXPECT_EQ(state.jobs[1].spec().name(), "name-a");
}

TEST_F(SqliteStoreTest, KeepsEveryAttemptAndLoadsTheNewest) {
  v1::Job job = NewJob("a", 1);
  for (std::int64_t generation : {1, 2, 10}) {
    job.mutable_attempt()->set_generation(generation);
    ASSERT_TRUE(Put(job).ok());
  }
  EXPECT_EQ(store_->Load()->jobs[0].attempt().generation(), 10);
  EXPECT_EQ(store_->ListAttempts("a")->size(), 3U);
}

TEST_F(SqliteStoreTest, GrowsTheEpochWithEachStart) {
  const std::int64_t first = epoch_;
  Open();
  EXPECT_EQ(epoch_, first + 1);
}

TEST_F(SqliteStoreTest, RefusesAWriteOfAnEndedEpoch) {
  const std::int64_t old = epoch_;
  ASSERT_TRUE(store_->BeginEpoch().ok());
  const absl::Status late =
      store_->Transaction(old, [](StoreWriter& writer) { writer.PutJob(NewJob("a", 1)); });
  EXPECT_EQ(late.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->Load()->jobs.empty());
}

TEST_F(SqliteStoreTest, WritesAllOfATransactionOrNothing) {
  ASSERT_TRUE(
      store_->Transaction(epoch_, [](StoreWriter& writer) { writer.PutEvent(EventOf(1, "a")); })
          .ok());
  const absl::Status twice = store_->Transaction(epoch_, [](StoreWriter& writer) {
    writer.PutJob(NewJob("a", 1));
    writer.PutEvent(EventOf(1, "a"));  // the sequence is taken
  });
  EXPECT_FALSE(twice.ok());
  EXPECT_TRUE(store_->Load()->jobs.empty());
}

TEST_F(SqliteStoreTest, ListsEventsOfAJobAfterASequence) {
  ASSERT_TRUE(store_
                  ->Transaction(epoch_,
                                [](StoreWriter& writer) {
                                  for (std::int64_t i = 1; i <= 6; ++i) {
                                    writer.PutEvent(EventOf(i, i % 2 == 0 ? "even" : "odd"));
                                  }
                                })
                  .ok());
  const auto events = *store_->ListEvents({.job_id = "even", .after_sequence = 2, .limit = 10});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].sequence(), 4);
  EXPECT_EQ(store_->ListEvents({.limit = 3})->size(), 3U);
  EXPECT_EQ(store_->Load()->last_event, 6);
}

TEST_F(SqliteStoreTest, RemembersRequests) {
  ASSERT_TRUE(store_
                  ->Transaction(epoch_,
                                [](StoreWriter& writer) {
                                  writer.PutJob(NewJob("a", 1));
                                  writer.PutRequest("r", "a");
                                })
                  .ok());
  EXPECT_EQ(store_->Load()->requests,
            (std::vector<std::pair<std::string, std::string>>{{"r", "a"}}));
}

TEST_F(SqliteStoreTest, RefusesASecondCoordinator) {
  const auto second = SqliteStore::Open(folder_.path());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another coordinator"));
}

TEST_F(SqliteStoreTest, RefusesADamagedDatabase) {
  for (std::int64_t i = 1; i < 200; ++i) ASSERT_TRUE(Put(NewJob(std::to_string(i), i)).ok());
  store_.reset();
  const std::filesystem::path file = std::filesystem::path(folder_.path()) / "agoq.db";
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(4096);
  bytes << std::string(8192, 'x');
  bytes.close();
  const auto opened = SqliteStore::Open(folder_.path());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("backup"));
}

TEST_F(SqliteStoreTest, RefusesAFolderThatCannotBeMade) {
  const auto opened = SqliteStore::Open("/proc/agoq");
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("--state-directory"));
}

}  // namespace
}  // namespace agoq
