// Which state may follow which: of jobs and of attempts. Pure.
#pragma once

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

// Staying in a state is no move.
bool MayMove(v1::JobState from, v1::JobState to);
bool MayMove(v1::AttemptState from, v1::AttemptState to);

// SUCCEEDED, FAILED, CANCELLED: never left.
bool IsTerminal(v1::JobState state);
// STARTING, RUNNING, RECOVERING, STOPPING: an attempt may hold workers.
bool IsActive(v1::JobState state);

// A stop's target may only become more severe: PAUSED < CANCELLED.
bool IsMoreSevere(v1::JobState target, v1::JobState than);

}  // namespace agoq
