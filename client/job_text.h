// One job in full, for people. Pure.
#pragma once

#include <string>

#include "client/job_table.h"
#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

// Status, progress, placements, and results of an attempt that ended; wide adds the plan.
std::string JobText(const v1::Job& job, const TextOptions& options);

// "shakespeare: running", with reason and message if there are some.
std::string StateLine(const v1::Job& job, bool has_color);

}  // namespace agoq
