// A plan as a table for people.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct PlanTableOptions {
  ComputeType compute = ComputeType::kFloat32;  // width of what is kept full
  // Bytes of each layer and site, the same for all ranks; empty: no column for them.
  std::vector<std::array<std::int64_t, kNumSites>> layer_bytes;
};

// One row for each run of equal layers of a rank: format and bits per element (scales included) by
// site, bytes, reason. Ranks that have equal plans share a table.
std::string PlanTable(const BitPlan& plan, const PlanTableOptions& options);

}  // namespace agoq
