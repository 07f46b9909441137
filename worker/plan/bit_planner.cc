#include "worker/plan/bit_planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "worker/plan/plan_front.h"
#include "worker/plan/plan_reason.h"
#include "worker/plan/recompute_cost.h"

namespace agoq {
namespace {

// The peak falls almost, not quite, with the saved bytes: that many neighbours are looked at.
constexpr std::size_t kNeighbours = 16;
constexpr std::size_t kSmallestPlans = 64;
// Doublings of the weight until recomputing is all but forbidden.
constexpr int kMostDoublings = 20;

std::int64_t PeakOf(const PlannerInput& input, std::vector<LayerPlan> layers) {
  MemoryModelInput memory = input.memory;
  memory.layers = std::move(layers);
  return PredictPeak(memory).total();
}

RankOutcome Describe(const PlannerInput& input, std::vector<LayerPlan> layers) {
  RankOutcome outcome;
  MemoryModelInput memory = input.memory;
  memory.layers = layers;
  outcome.predicted = PredictPeak(memory);
  outcome.error = PredictError(input.errors, layers);
  for (const LayerPlan& layer : layers) {
    outcome.saved_bytes += SavedBytes(input.memory, layer);
    outcome.slowdown += RecomputeSlowdown(input.memory.model, input.memory.sequence_length, layer);
  }
  outcome.layers = std::move(layers);
  return outcome;
}

ChoiceRules RulesOf(const PlannerInput& input, double weight) {
  return {.errors = input.errors,
          .recompute_weight = weight,
          .allows_recompute = input.allows_recompute};
}

bool IsWithin(const PlannerInput& input, const PlanFront& front, std::size_t index) {
  if (input.saved_budget_bytes > 0 && front.bytes(index) > input.saved_budget_bytes) return false;
  return input.budget_bytes == 0 || PeakOf(input, front.Layers(index)) <= input.budget_bytes;
}

// The plan with the most bytes, so the least cost, that lies within the budgets.
std::optional<std::size_t> LargestWithin(const PlannerInput& input, const PlanFront& front) {
  std::size_t begin = 0;
  std::size_t end = front.size();
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (IsWithin(input, front, middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  const std::size_t last = std::min(begin + kNeighbours, front.size());
  const std::size_t first = begin - std::min(begin, kNeighbours);
  for (std::size_t index = last; index-- > first;) {
    if (IsWithin(input, front, index)) return index;
  }
  return std::nullopt;
}

// The plan with the fewest bytes whose cost, as error, lies within the error budget.
std::optional<std::size_t> SmallestExactEnough(const PlannerInput& input, const PlanFront& front) {
  const double most = input.error_budget * input.error_budget;
  for (std::size_t index = 0; index < front.size(); ++index) {
    if (front.cost(index) > most) continue;
    if (!IsWithin(input, front, index)) return std::nullopt;
    return index;
  }
  return std::nullopt;
}

// Where the lowest peak is found: among the plans with the fewest saved bytes, and those that treat
// every layer alike, which may have less workspace.
std::vector<std::vector<LayerPlan>> SmallPlans(const PlannerInput& input) {
  const ChoiceRules rules = RulesOf(input, kRecomputeWeight);
  const PlanFront front(input.memory, rules);
  std::vector<std::vector<LayerPlan>> plans;
  for (std::size_t i = 0; i < std::min(front.size(), kSmallestPlans); ++i) {
    plans.push_back(front.Layers(i));
  }
  const auto num_layers = static_cast<std::size_t>(input.memory.model.num_layers);
  for (const LayerChoice& choice : ListLayerChoices(input.memory, rules, 0)) {
    plans.emplace_back(num_layers, choice.plan);
  }
  return plans;
}

bool IsAllowed(const PlannerInput& input, const RankOutcome& outcome) {
  if (input.max_slowdown > 0 && outcome.slowdown > input.max_slowdown) return false;
  if (input.error_budget > 0 && outcome.error > input.error_budget) return false;
  if (input.saved_budget_bytes > 0 && outcome.saved_bytes > input.saved_budget_bytes) return false;
  return input.budget_bytes == 0 || outcome.predicted.total() <= input.budget_bytes;
}

// Of the small plans that respect all bounds but the budget, the one with the lowest peak.
std::optional<RankOutcome> SmallestPeak(const PlannerInput& input) {
  PlannerInput unbounded = input;
  unbounded.budget_bytes = unbounded.saved_budget_bytes = 0;
  std::optional<RankOutcome> smallest;
  for (std::vector<LayerPlan>& layers : SmallPlans(input)) {
    RankOutcome outcome = Describe(input, std::move(layers));
    if (!IsAllowed(unbounded, outcome)) continue;
    const bool is_smaller =
        !smallest.has_value() || outcome.predicted.total() < smallest->predicted.total();
    if (is_smaller) smallest = std::move(outcome);
  }
  return smallest;
}

std::int64_t LargestMicroBatch(const PlannerInput& input) {
  PlannerInput smaller = input;
  std::int64_t fits = 0;
  std::int64_t fails = input.memory.micro_batch_size;
  while (fails - fits > 1) {
    smaller.memory.micro_batch_size = fits + (fails - fits) / 2;
    const std::optional<RankOutcome> smallest = SmallestPeak(smaller);
    const bool does_fit = smallest.has_value() && IsAllowed(smaller, *smallest);
    (does_fit ? fits : fails) = smaller.memory.micro_batch_size;
  }
  return fits;
}

std::string MebibytesText(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

RankOutcome Refuse(const PlannerInput& input, RankOutcome nearest) {
  nearest.fits = false;
  nearest.smallest_budget_bytes = nearest.predicted.total();
  nearest.largest_micro_batch_size = LargestMicroBatch(input);
  nearest.message = "needs at least " + MebibytesText(nearest.smallest_budget_bytes) + ", has " +
                    MebibytesText(input.budget_bytes) + "; ";
  nearest.message += nearest.largest_micro_batch_size > 0
                         ? "a micro_batch_size of " +
                               std::to_string(nearest.largest_micro_batch_size) + " would fit"
                         : "no micro_batch_size would fit";
  return nearest;
}

std::optional<std::vector<LayerPlan>> Search(const PlannerInput& input, double weight) {
  const PlanFront front(input.memory, RulesOf(input, weight));
  const std::optional<std::size_t> index =
      input.error_budget > 0 ? SmallestExactEnough(input, front) : LargestWithin(input, front);
  if (!index.has_value()) return std::nullopt;
  return front.Layers(*index);
}

}  // namespace

RankOutcome PlanAuto(const PlannerInput& input) {
  const auto num_layers = static_cast<std::size_t>(input.memory.model.num_layers);
  const bool is_unbounded =
      input.budget_bytes == 0 && input.saved_budget_bytes == 0 && input.error_budget == 0;
  if (is_unbounded) return CheckLayers(input, std::vector<LayerPlan>(num_layers, FullLayer()));
  double weight = kRecomputeWeight;
  for (int doubling = 0; doubling < kMostDoublings; ++doubling, weight *= 2) {
    const std::optional<std::vector<LayerPlan>> layers = Search(input, weight);
    if (!layers.has_value()) break;
    RankOutcome outcome = Describe(input, *layers);
    if (!IsAllowed(input, outcome)) continue;  // too slow: recomputing must cost more
    outcome.fits = true;
    GiveReasons(input.errors, &outcome.layers);
    return outcome;
  }
  std::optional<RankOutcome> smallest = SmallestPeak(input);
  if (!smallest.has_value()) {
    RankOutcome outcome = Describe(input, std::vector<LayerPlan>(num_layers, FullLayer()));
    outcome.smallest_budget_bytes = outcome.predicted.total();
    outcome.message = "no plan lies within plan.error_budget and plan.max_slowdown; raise them";
    return outcome;
  }
  if (!IsAllowed(input, *smallest)) return Refuse(input, *std::move(smallest));
  smallest->fits = true;
  GiveReasons(input.errors, &smallest->layers);
  return *std::move(smallest);
}

RankOutcome CheckLayers(const PlannerInput& input, std::vector<LayerPlan> layers) {
  RankOutcome outcome = Describe(input, std::move(layers));
  outcome.fits = input.budget_bytes == 0 || outcome.predicted.total() <= input.budget_bytes;
  if (outcome.fits) return outcome;
  outcome.smallest_budget_bytes = outcome.predicted.total();
  outcome.message = "its plan needs " + MebibytesText(outcome.smallest_budget_bytes) + ", has " +
                    MebibytesText(input.budget_bytes) +
                    "; lower steps.micro_batch_size, or use plan.mode auto";
  return outcome;
}

std::int64_t SmallestBudget(const PlannerInput& input) {
  const std::optional<RankOutcome> smallest = SmallestPeak(input);
  if (smallest.has_value()) return smallest->predicted.total();
  const auto num_layers = static_cast<std::size_t>(input.memory.model.num_layers);
  return PeakOf(input, std::vector<LayerPlan>(num_layers, FullLayer()));
}

}  // namespace agoq
