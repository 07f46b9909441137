// The dry run of a job.
#pragma once

#include "client/invocation.h"
#include "proto/common/spec.h"

namespace agoq {

// Asks the coordinator for the plan and prints it; returns the exit code. JSON and YAML are the
// BitPlan alone, which serves as a fixed plan.
int PlanAndPrint(const Invocation& invocation, const JobReading& reading,
                 const OutputOptions& output);

}  // namespace agoq
