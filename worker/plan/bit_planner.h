// Chooses how each site of each layer of a rank is kept. Pure; the trade is a knapsack over layers
// and sites (plan_front.h) whose bytes the memory model has the last word on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/plan/error_model.h"
#include "worker/plan/memory_model.h"

namespace agoq {

// Squared error that a step twice as long is worth: recomputing every block (a slow-down of about
// 1/3) then costs what the paper's policy does in error, 0.0863^2. So bits are preferred, and
// recomputing comes in as memory gets tight.
inline constexpr double kRecomputeWeight = 3 * 0.0863 * 0.0863;

struct PlannerInput {
  MemoryModelInput memory;  // its layers are ignored
  ErrorTable errors = LargeModelErrors();
  std::int64_t budget_bytes = 0;        // of the predicted peak; 0: no bound
  std::int64_t saved_budget_bytes = 0;  // of the saved activations alone; 0: no bound
  double error_budget = 0;              // predicted error of the gradient, a ratio; 0: no bound
  double max_slowdown = 0;              // by recomputing, a ratio of step times; 0: no bound
  bool allows_recompute = true;
};

struct RankOutcome {
  bool fits = false;
  std::string message;  // does not fit: why, with the numbers below and the remedies

  // Of the plan; if none fits, of the one that comes nearest.
  std::vector<LayerPlan> layers;
  MemoryBytes predicted;         // at the peak
  std::int64_t saved_bytes = 0;  // saved activations of all layers
  double error = 0;              // predicted, of the whole gradient
  double slowdown = 0;           // predicted

  // Does not fit only.
  std::int64_t smallest_budget_bytes = 0;
  std::int64_t largest_micro_batch_size = 0;  // with the given budget; 0: none
};

// Within the budget: least error, where recomputing counts as error by kRecomputeWeight. With an
// error budget: fewest bytes whose error, counted so, lies within it. Without either: all full.
RankOutcome PlanAuto(const PlannerInput& input);

// A given plan against the same bounds.
RankOutcome CheckLayers(const PlannerInput& input, std::vector<LayerPlan> layers);

// The smallest budget with which PlanAuto finds a plan.
std::int64_t SmallestBudget(const PlannerInput& input);

}  // namespace agoq
