// How agoq ends.
#pragma once

#include <absl/status/status.h>

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;         // the job failed, or the operation was refused
inline constexpr int kExitUsage = 2;          // command line or job file
inline constexpr int kExitNotFound = 3;       // no such job or worker
inline constexpr int kExitNotAllowed = 4;     // not authenticated, or not allowed
inline constexpr int kExitUnreachable = 5;    // no coordinator, or no answer in time
inline constexpr int kExitWaitTimedOut = 6;   // the job is not there yet
inline constexpr int kExitCancelled = 7;      // the job was cancelled
inline constexpr int kExitInterrupted = 130;  // by Ctrl-C; the job goes on

int ExitCodeOf(const absl::Status& status);

// Of a job that was waited for: done, failed or cancelled; done too while it is not over.
int ExitCodeOf(v1::JobState state);

// A state that never changes again.
bool IsOver(v1::JobState state);

}  // namespace agoq
