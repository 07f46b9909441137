// The answer to a dry run, for people. Pure.
#pragma once

#include <string>

#include "proto/agoq/v1/job_service.pb.h"
#include "worker/plan/model_shape.h"

namespace agoq {

// For each rank its worker, budget, predicted peak with its labels, error and slow-down, and the
// table of bits and bytes by layers and sites with the reasons.
std::string PlanText(const v1::PlanJobResponse& response, ComputeType compute);

}  // namespace agoq
