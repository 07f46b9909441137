#include "server/gang_planner.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "proto/common/job_plan.h"
#include "proto/common/plan_codec.h"
#include "proto/common/status.h"
#include "worker/plan/layer_choices.h"
#include "worker/plan/memory_label.h"

namespace agoq {
namespace {

constexpr std::size_t kMostKept = 1000;

// What of a spec, and of a rank, decides how much memory it needs.
std::string KeyOf(const v1::JobSpec& spec, std::int64_t rank) {
  v1::JobSpec key;
  *key.mutable_model() = spec.model();
  *key.mutable_mesh() = spec.mesh();
  *key.mutable_precision() = spec.precision();
  *key.mutable_plan() = spec.plan();
  *key.mutable_steps() = spec.steps();
  const std::int64_t table_rank = spec.plan().has_table_plan() ? rank : 0;
  return absl::StrCat(table_rank, ":", key.SerializeAsString());
}

v1::PlannedRank Describe(const RankOutcome& outcome, const PlannerInput& input,
                         const v1::Placement& placement) {
  v1::PlannedRank rank;
  rank.set_rank(placement.rank());
  rank.set_worker(placement.worker());
  rank.set_budget_bytes(placement.budget_bytes());
  rank.set_predicted_error(outcome.error);
  rank.set_predicted_slowdown(outcome.slowdown);
  for (int label = 0; label < kNumMemoryLabels; ++label) {
    v1::LabelBytes& bytes = *rank.add_predicted();
    bytes.set_label(std::string(NameOf(static_cast<MemoryLabel>(label))));
    bytes.set_bytes(outcome.predicted[static_cast<MemoryLabel>(label)]);
  }
  for (const LayerPlan& layer : outcome.layers) {
    for (const Site site : kAllSites) {
      rank.add_layer_site_bytes(SavedBytes(input.memory, layer, site));
    }
  }
  return rank;
}

}  // namespace

const RankOutcome& GangPlanner::Outcome(const v1::JobSpec& spec, std::int64_t rank,
                                        std::int64_t budget_bytes) {
  if (outcomes_.size() > kMostKept) outcomes_.clear();
  const auto [entry, is_new] = outcomes_.try_emplace({KeyOf(spec, rank), budget_bytes});
  if (is_new) entry->second = PlanRank(spec, rank, budget_bytes);
  return entry->second;
}

GangPlan GangPlanner::Plan(const v1::JobSpec& spec, const std::vector<v1::Placement>& placements) {
  const PlannerInput input = PlannerInputOf(spec);
  GangPlan result;
  BitPlan plan;
  std::vector<Precondition> problems;
  for (const v1::Placement& placement : placements) {
    const RankOutcome& outcome = Outcome(spec, placement.rank(), placement.budget_bytes());
    if (!outcome.fits) {
      problems.push_back(
          {.type = "MEMORY",
           .subject = placement.worker(),
           .description = absl::StrCat("rank ", placement.rank(), " ", outcome.message)});
    }
    plan.ranks.push_back({.rank = placement.rank(),
                          .budget_bytes = placement.budget_bytes(),
                          .predicted_peak_bytes = outcome.predicted.total(),
                          .layers = outcome.layers});
    result.ranks.push_back(Describe(outcome, input, placement));
  }
  if (!problems.empty()) {
    const std::string message = absl::StrCat("the job does not fit: worker ", problems[0].subject,
                                             ", ", problems[0].description);
    result.status = PreconditionFailed(message, problems);
    return result;
  }
  result.plan = EncodePlan(plan);
  result.plan.set_revision(1);
  result.plan.set_hash(PlanHash(result.plan));
  return result;
}

std::int64_t GangPlanner::SmallestBudget(const v1::JobSpec& spec) {
  if (smallest_.size() > kMostKept) smallest_.clear();
  const auto [entry, is_new] = smallest_.try_emplace(KeyOf(spec, 0));
  if (is_new) entry->second = SmallestBudgetOf(spec);
  return entry->second;
}

bool GangPlanner::Fits(const v1::BitPlan& plan, const std::vector<v1::Placement>& placements) {
  if (static_cast<std::size_t>(plan.ranks_size()) != placements.size()) return false;
  for (const v1::Placement& placement : placements) {
    const v1::RankPlan& rank = plan.ranks(static_cast<int>(placement.rank()));
    if (rank.predicted_peak_bytes() > placement.budget_bytes()) return false;
  }
  return true;
}

std::string PlanHash(const v1::BitPlan& plan) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const v1::RankPlan& rank : plan.ranks()) {
    for (const v1::LayerPlan& layer : rank.layers()) {
      v1::LayerPlan policies = layer;
      policies.clear_reason();
      for (const unsigned char byte : policies.SerializeAsString()) {
        hash = (hash ^ byte) * 1099511628211ULL;
      }
    }
  }
  return absl::StrFormat("%016x", hash);
}

}  // namespace agoq
