// A plan as a table for people.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

// Bytes of each layer and site of a rank.
using LayerSiteBytes = std::vector<std::array<std::int64_t, kNumSites>>;

struct PlanTableOptions {
  ComputeType compute = ComputeType::kFloat32;  // width of what is kept full
  LayerSiteBytes layer_bytes;                   // the same for all ranks; empty: none are shown
};

// "4.25": bits per element, scales included; the fewest digits up to three decimals. Empty for what
// is recomputed.
std::string BitsText(const SitePolicy& policy, ComputeType compute);

// "2", or "0-3": a run of layers.
std::string LayersText(std::size_t first, std::size_t last);

// One row for each run of equal layers: format and bits per element by site; with bytes a second
// row has those of each of these layers by site, and their sum. Then the reasons.
std::string RankTable(const RankPlan& rank, const PlanTableOptions& options);

// The tables of all ranks, each with a title. Ranks that have equal plans share one.
std::string PlanTable(const BitPlan& plan, const PlanTableOptions& options);

}  // namespace agoq
