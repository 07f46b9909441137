// What an attempt's end means for its job. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/agoq/v1/job.pb.h"
#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

struct RankEnd {
  std::int64_t rank = 0;
  v1::AttemptCause cause = v1::ATTEMPT_CAUSE_UNSPECIFIED;
  std::string message;
  std::int64_t at_unix_nanos = 0;
};

// The rank that ended the attempt: the earliest end that no peer's end explains. A failed
// collective operation is mostly the echo of another rank's end, a drain of another rank's stop.
RankEnd FirstCause(const std::vector<RankEnd>& ends);

struct NextMove {
  v1::JobState state = v1::JOB_STATE_QUEUED;  // QUEUED or FAILED
  v1::JobReason reason = v1::JOB_REASON_UNSPECIFIED;
  std::string message;
  double wait_seconds = 0;  // before the next attempt
  // New values of the job's counters.
  std::int64_t failures = 0;
  std::int64_t attempts_without_progress = 0;
  std::int64_t out_of_memory_ends = 0;
};

// Only faults of the job's own making use its budget of failures; the rule of progress covers every
// cause but a drain. `first_wait_seconds` doubles with each attempt without progress, up to 300.
NextMove AfterAttempt(const v1::RestartSpec& limits, const v1::JobStatus& status,
                      const v1::Attempt& attempt, double first_wait_seconds);

}  // namespace agoq
