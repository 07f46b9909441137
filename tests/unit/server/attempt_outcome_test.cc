#include "server/attempt_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agoq {
namespace {

using ::testing::HasSubstr;

v1::RestartSpec Limits() {
  v1::RestartSpec limits;
  limits.set_max_failures(3);
  limits.set_max_no_progress(3);
  return limits;
}

v1::Attempt EndedBy(v1::AttemptCause cause, std::int64_t first_checkpoint_step = 0) {
  v1::Attempt attempt;
  attempt.set_cause(cause);
  attempt.set_message("rank 1 on b: why");
  attempt.set_first_checkpoint_step(first_checkpoint_step);
  return attempt;
}

TEST(FirstCause, IsTheEarliestEnd) {
  const RankEnd first =
      FirstCause({{.rank = 0, .cause = v1::ATTEMPT_CAUSE_OOM, .at_unix_nanos = 9},
                  {.rank = 1, .cause = v1::ATTEMPT_CAUSE_RANK_EXIT, .at_unix_nanos = 5}});
  EXPECT_EQ(first.rank, 1);
}

TEST(FirstCause, IsNoEchoOfAnotherRanksEnd) {
  const RankEnd first =
      FirstCause({{.rank = 0, .cause = v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED, .at_unix_nanos = 1},
                  {.rank = 1, .cause = v1::ATTEMPT_CAUSE_OOM, .at_unix_nanos = 2},
                  {.rank = 2, .cause = v1::ATTEMPT_CAUSE_COMPLETED, .at_unix_nanos = 0}});
  EXPECT_EQ(first.rank, 1);
  EXPECT_EQ(first.cause, v1::ATTEMPT_CAUSE_OOM);
}

TEST(AfterAttempt, FailsAtOnceForAnErrorOfTheUsers) {
  const NextMove next = AfterAttempt(Limits(), {}, EndedBy(v1::ATTEMPT_CAUSE_USER_ERROR), 5);
  EXPECT_EQ(next.state, v1::JOB_STATE_FAILED);
  EXPECT_EQ(next.reason, v1::JOB_REASON_USER_ERROR);
  EXPECT_EQ(next.message, "rank 1 on b: why");
}

TEST(AfterAttempt, QueuesAgainWithoutCostAfterADrain) {
  v1::JobStatus status;
  status.set_failures(3);
  status.set_attempts_without_progress(2);
  const NextMove next = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_DRAINED), 5);
  EXPECT_EQ(next.state, v1::JOB_STATE_QUEUED);
  EXPECT_EQ(next.failures, 3);
  EXPECT_EQ(next.wait_seconds, 0);
}

TEST(AfterAttempt, FailsAfterThreeAttemptsWithoutANewerCheckpoint) {
  v1::JobStatus status;
  std::vector<double> waits;
  for (int attempt = 1; attempt < 3; ++attempt) {
    const NextMove next = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_WORKER_LOST), 5);
    EXPECT_EQ(next.state, v1::JOB_STATE_QUEUED);
    EXPECT_EQ(next.reason, v1::JOB_REASON_BACKOFF);
    waits.push_back(next.wait_seconds);
    status.set_attempts_without_progress(next.attempts_without_progress);
  }
  EXPECT_THAT(waits, ::testing::ElementsAre(5, 10));
  const NextMove last = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_WORKER_LOST), 5);
  EXPECT_EQ(last.state, v1::JOB_STATE_FAILED);
  EXPECT_EQ(last.reason, v1::JOB_REASON_NO_PROGRESS);
  EXPECT_THAT(last.message, HasSubstr("restart.max_no_progress is 3"));
}

TEST(AfterAttempt, ForgetsEarlierAttemptsAfterANewerCheckpoint) {
  v1::JobStatus status;
  status.set_attempts_without_progress(2);
  status.set_checkpoint_step(8);
  const NextMove next = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_RANK_EXIT, 4), 5);
  EXPECT_EQ(next.state, v1::JOB_STATE_QUEUED);
  EXPECT_EQ(next.attempts_without_progress, 0);
  EXPECT_EQ(next.failures, 1);
}

TEST(AfterAttempt, FailsWhenTheBudgetOfFailuresIsUsed) {
  v1::JobStatus status;
  status.set_failures(3);
  status.set_checkpoint_step(8);
  const NextMove next = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_RANK_EXIT), 5);
  EXPECT_EQ(next.state, v1::JOB_STATE_FAILED);
  EXPECT_EQ(next.reason, v1::JOB_REASON_RETRIES_EXHAUSTED);
}

TEST(AfterAttempt, ForgivesTheFirstLackOfMemory) {
  v1::JobStatus status;
  const NextMove first = AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_OOM), 5);
  EXPECT_EQ(first.failures, 0);
  status.set_out_of_memory_ends(first.out_of_memory_ends);
  EXPECT_EQ(AfterAttempt(Limits(), status, EndedBy(v1::ATTEMPT_CAUSE_OOM), 5).failures, 1);
}

}  // namespace
}  // namespace agoq
