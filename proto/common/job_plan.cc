#include "proto/common/job_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/common/job_checks.h"
#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

ComputeType ComputeOf(const v1::PrecisionSpec& precision) {
  switch (precision.compute()) {
    case v1::PrecisionSpec::COMPUTE_BFLOAT16:
      return ComputeType::kBFloat16;
    case v1::PrecisionSpec::COMPUTE_FLOAT64:
      return ComputeType::kFloat64;
    default:
      return ComputeType::kFloat32;
  }
}

std::int64_t BudgetOf(const v1::PlanSpec& plan, std::int64_t budget_bytes) {
  std::int64_t budget = budget_bytes;
  if (plan.budget_bytes() > 0) {
    budget = budget > 0 ? std::min(budget, plan.budget_bytes()) : plan.budget_bytes();
  }
  // A reserve that leaves nothing leaves no plan either.
  return budget > 0 ? std::max<std::int64_t>(budget - plan.reserve_bytes(), 1) : 0;
}

std::vector<LayerPlan> GivenLayers(const v1::JobSpec& job, std::int64_t rank) {
  const auto num_layers = static_cast<std::size_t>(job.model().num_hidden_layers());
  if (job.plan().mode() == v1::PlanSpec::MODE_PAPER) {
    return std::vector<LayerPlan>(num_layers, PaperLayer());
  }
  if (job.plan().has_table_plan()) {
    return DecodePlan(job.plan().table_plan()).plan.ranks[static_cast<std::size_t>(rank)].layers;
  }
  const std::optional<LayerPlan> layer = LayerFromPolicyName(job.plan().table());
  return std::vector<LayerPlan>(num_layers, layer.value_or(FullLayer()));
}

}  // namespace

PlannerInput PlannerInputOf(const v1::JobSpec& job) {
  PlannerInput input;
  MemoryModelInput& memory = input.memory;
  memory.model = ShapeFromSpec(job.model());
  input.errors = DefaultErrorTable(memory.model);
  memory.compute = ComputeOf(job.precision());
  if (job.precision().gradient_format() != v1::PrecisionSpec::GRADIENT_FORMAT_NONE) {
    memory.gradient_spec = QuantSpec{Format::kInt8, job.precision().gradient_block()};
  }
  memory.micro_batch_size = job.steps().micro_batch_size();
  memory.micro_batches = job.steps().micro_batches();
  memory.sequence_length = job.steps().sequence_length();
  memory.num_ranks = NumRanks(job);
  memory.threads = static_cast<int>(job.steps().threads());
  memory.samples_errors = job.plan().error_sample_interval() > 0;
  input.error_budget = job.plan().error_budget();
  input.max_slowdown = job.plan().max_slowdown();
  return input;
}

RankOutcome PlanRank(const v1::JobSpec& job, std::int64_t rank, std::int64_t budget_bytes) {
  PlannerInput input = PlannerInputOf(job);
  input.budget_bytes = BudgetOf(job.plan(), budget_bytes);
  if (job.plan().mode() == v1::PlanSpec::MODE_AUTO) return PlanAuto(input);
  return CheckLayers(input, GivenLayers(job, rank));
}

std::int64_t SmallestBudgetOf(const v1::JobSpec& job) {
  const PlannerInput input = PlannerInputOf(job);
  std::int64_t least = 0;
  if (job.plan().mode() == v1::PlanSpec::MODE_AUTO) {
    least = SmallestBudget(input);
  } else {
    // Ranks may have different tables, and any of them any worker.
    for (std::int64_t rank = 0; rank < NumRanks(job); ++rank) {
      least = std::max(least, CheckLayers(input, GivenLayers(job, rank)).predicted.total());
    }
  }
  return least + job.plan().reserve_bytes();
}

JobPlan PlanJob(const v1::JobSpec& job) {
  JobPlan result;
  std::optional<RankOutcome> outcome;
  const bool ranks_differ = job.plan().has_table_plan();
  for (std::int64_t rank = 0; rank < NumRanks(job); ++rank) {
    if (!outcome.has_value() || ranks_differ) outcome = PlanRank(job, rank, 0);
    // A table that the user gave runs as it is: the budget then holds by itself.
    const bool is_own_plan = job.plan().mode() != v1::PlanSpec::MODE_FIXED;
    if (is_own_plan && !outcome->fits && result.problem.empty()) {
      result.problem = "plan.budget_bytes: " + std::to_string(job.plan().budget_bytes()) +
                       ": rank " + std::to_string(rank) + " " + outcome->message;
    }
    result.plan.ranks.push_back({.rank = rank,
                                 .budget_bytes = job.plan().budget_bytes(),
                                 .predicted_peak_bytes = outcome->predicted.total(),
                                 .layers = outcome->layers});
  }
  return result;
}

}  // namespace agoq
