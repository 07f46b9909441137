// What is wrong with a job that is complete, whoever wrote it: rules of single fields and rules
// that join several. Pure.
#pragma once

#include <string>
#include <vector>

#include "proto/agoq/v1/job.pb.h"
#include "proto/common/spec_error.h"

namespace agoq {

struct JobReview {
  std::vector<SpecError> errors;      // files and lines are left open
  std::vector<std::string> warnings;  // allowed, but known to harm training
};

// `job` has its defaults (FillDefaults) and inlined model and plan. A field that broke its own rule
// is named once; rules that join it with others are then left out.
JobReview ReviewJob(const v1::JobSpec& job);

// Number of ranks of the job's mesh.
std::int64_t NumRanks(const v1::JobSpec& job);

}  // namespace agoq
