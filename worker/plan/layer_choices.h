// The ways in which one layer's sites can be kept, without those that another beats. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/plan/error_model.h"
#include "worker/plan/memory_model.h"

namespace agoq {

// A way to keep a layer: its saved bytes, and what they cost.
struct LayerChoice {
  LayerPlan plan;
  std::int64_t bytes = 0;  // saved activations of the layer
  double cost = 0;         // squared error + weight * slow-down
};

struct ChoiceRules {
  const ErrorTable& errors;
  double recompute_weight = 0;  // squared error that a slow-down of 1 is worth
  bool allows_recompute = true;
};

// Bytes that `plan` keeps of a layer between forward and backward.
std::int64_t SavedBytes(const MemoryModelInput& input, const LayerPlan& plan);
// Of one site of it.
std::int64_t SavedBytes(const MemoryModelInput& input, const LayerPlan& plan, Site site);

// Fewest bytes first, cost falling strictly. Only what training survives (queries and keys at 8
// bits or more, ...): ReviewPlan has neither errors nor warnings about any of them.
std::vector<LayerChoice> ListLayerChoices(const MemoryModelInput& input, const ChoiceRules& rules,
                                          std::int64_t layer);

}  // namespace agoq
