#include "server/attempt_outcome.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace agoq {
namespace {

constexpr double kLongestWaitSeconds = 300;

// Lower comes first: what cannot be another rank's echo.
int EchoRank(v1::AttemptCause cause) {
  switch (cause) {
    case v1::ATTEMPT_CAUSE_COMPLETED:
      return 3;
    case v1::ATTEMPT_CAUSE_DRAINED:
      return 2;
    case v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED:
      return 1;
    default:
      return 0;
  }
}

bool IsPermanent(v1::AttemptCause cause) {
  return cause == v1::ATTEMPT_CAUSE_USER_ERROR || cause == v1::ATTEMPT_CAUSE_NONFINITE_LOSS;
}

bool IsWanted(v1::AttemptCause cause) {
  return cause == v1::ATTEMPT_CAUSE_DRAINED || cause == v1::ATTEMPT_CAUSE_PREEMPTED ||
         cause == v1::ATTEMPT_CAUSE_COORDINATOR_ORPHAN;
}

bool UsesBudget(v1::AttemptCause cause, std::int64_t out_of_memory_ends) {
  if (cause == v1::ATTEMPT_CAUSE_OOM) return out_of_memory_ends > 1;
  return cause == v1::ATTEMPT_CAUSE_RANK_EXIT || cause == v1::ATTEMPT_CAUSE_RANK_HANG;
}

v1::JobReason PermanentReason(v1::AttemptCause cause) {
  return cause == v1::ATTEMPT_CAUSE_USER_ERROR ? v1::JOB_REASON_USER_ERROR
                                               : v1::JOB_REASON_NONFINITE_LOSS;
}

}  // namespace

RankEnd FirstCause(const std::vector<RankEnd>& ends) {
  if (ends.empty()) return {.rank = -1};
  return *std::min_element(ends.begin(), ends.end(), [](const RankEnd& a, const RankEnd& b) {
    return std::tuple(EchoRank(a.cause), a.at_unix_nanos, a.rank) <
           std::tuple(EchoRank(b.cause), b.at_unix_nanos, b.rank);
  });
}

NextMove AfterAttempt(const v1::RestartSpec& limits, const v1::JobStatus& status,
                      const v1::Attempt& attempt, double first_wait_seconds) {
  const v1::AttemptCause cause = attempt.cause();
  const bool made_progress = status.checkpoint_step() > attempt.first_checkpoint_step();
  NextMove next = {
      .message = attempt.message(),
      .failures = status.failures(),
      .attempts_without_progress = made_progress ? 0 : status.attempts_without_progress(),
      .out_of_memory_ends = status.out_of_memory_ends() + (cause == v1::ATTEMPT_CAUSE_OOM ? 1 : 0)};
  const auto fail = [&](v1::JobReason reason, const std::string& why) {
    next.state = v1::JOB_STATE_FAILED;
    next.reason = reason;
    if (!why.empty()) next.message = absl::StrCat(why, ": ", attempt.message());
    return next;
  };
  if (IsPermanent(cause)) return fail(PermanentReason(cause), "");
  if (IsWanted(cause)) return next;
  if (!made_progress) ++next.attempts_without_progress;
  if (UsesBudget(cause, next.out_of_memory_ends)) ++next.failures;
  if (next.failures > limits.max_failures()) {
    return fail(
        cause == v1::ATTEMPT_CAUSE_OOM ? v1::JOB_REASON_OOM : v1::JOB_REASON_RETRIES_EXHAUSTED,
        absl::StrCat(next.failures, " failures, restart.max_failures is ", limits.max_failures()));
  }
  if (next.attempts_without_progress >= limits.max_no_progress()) {
    return fail(v1::JOB_REASON_NO_PROGRESS,
                absl::StrCat(next.attempts_without_progress,
                             " attempts in a row without a newer checkpoint, "
                             "restart.max_no_progress is ",
                             limits.max_no_progress()));
  }
  next.reason = v1::JOB_REASON_BACKOFF;
  const auto doublings =
      static_cast<double>(std::max<std::int64_t>(next.attempts_without_progress - 1, 0));
  next.wait_seconds = std::min(kLongestWaitSeconds, first_wait_seconds * std::exp2(doublings));
  return next;
}

}  // namespace agoq
