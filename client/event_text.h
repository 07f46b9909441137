// Events as lines. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/job_table.h"
#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

// "12:00:05Z  started  starting -> running  attempt 1: ..."
std::string EventLine(const v1::Event& event, bool has_color);

// SEQ TIME ACTOR KIND STATE ATTEMPT MESSAGE; wide adds JOB and WORKER.
std::string EventTable(const std::vector<v1::Event>& events, const TextOptions& options);

}  // namespace agoq
