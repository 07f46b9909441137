// A checked job as the planner's input, and its ranks' plans (worker/plan/bit_planner.h).
#pragma once

#include <cstdint>
#include <string>

#include "proto/agoq/v1/job.pb.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/bit_planner.h"

namespace agoq {

// Without a budget.
PlannerInput PlannerInputOf(const v1::JobSpec& job);

// What plan.mode says for a rank that has `budget_bytes` of memory (0: no bound); the job's own
// bound and reserve count too.
RankOutcome PlanRank(const v1::JobSpec& job, std::int64_t rank, std::int64_t budget_bytes);

// The least memory with which a rank can train, in bytes, the reserve included.
std::int64_t SmallestBudgetOf(const v1::JobSpec& job);

struct JobPlan {
  BitPlan plan;
  std::string problem;  // not empty: modes auto and paper do not fit, with numbers and remedies
};
// The plans of all ranks of a job that runs without a coordinator: each has plan.budget_bytes.
JobPlan PlanJob(const v1::JobSpec& job);

}  // namespace agoq
