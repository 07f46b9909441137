// A job's spec and its workers' memory as a plan (proto/common/job_plan.h for each rank). What was
// computed for a spec and a budget is kept. State thread alone.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/agoq/v1/job_service.pb.h"
#include "worker/plan/bit_planner.h"

namespace agoq {

struct GangPlan {
  // Not OK: FAILED_PRECONDITION that names each rank that does not fit, the smallest budget that
  // would do, and the largest batch that fits.
  absl::Status status;
  v1::BitPlan plan;
  std::vector<v1::PlannedRank> ranks;  // ordered by rank
};

class GangPlanner {
 public:
  // `placements` have their budgets. `spec` is valid (ReviewJob).
  GangPlan Plan(const v1::JobSpec& spec, const std::vector<v1::Placement>& placements);

  // The least memory with which a rank can train, in bytes.
  std::int64_t SmallestBudget(const v1::JobSpec& spec);

  // True: every rank's predicted peak lies within its placement's budget.
  static bool Fits(const v1::BitPlan& plan, const std::vector<v1::Placement>& placements);

 private:
  const RankOutcome& Outcome(const v1::JobSpec& spec, std::int64_t rank, std::int64_t budget_bytes);

  // By what of a spec decides; cleared when they grow large.
  std::map<std::string, std::int64_t> smallest_;
  std::map<std::pair<std::string, std::int64_t>, RankOutcome> outcomes_;  // and by budget
};

// A plan's name: equal for equal policies.
std::string PlanHash(const v1::BitPlan& plan);

}  // namespace agoq
