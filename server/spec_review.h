// A submitted spec, complete and checked. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "proto/agoq/v1/job.pb.h"

namespace agoq {

struct ReviewedSpec {
  v1::JobSpec spec;                   // with its defaults
  std::vector<std::string> warnings;  // allowed, but known to harm training
};

// INVALID_ARGUMENT with every violation.
absl::StatusOr<ReviewedSpec> ReviewSpec(v1::JobSpec spec);

}  // namespace agoq
