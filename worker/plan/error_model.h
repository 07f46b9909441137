// What keeping a site in few bits costs: the relative error of the whole weight gradient. Squared
// errors of sites and layers add up. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct ErrorTable {
  struct Column {
    Format format = Format::kInt8;
    // Error of the whole gradient when that site alone is packed, in all layers. Ratios.
    std::array<double, kNumSites> errors{};
  };
  // The formats that a plan may choose from, most bits first.
  std::vector<Column> columns;
  // First layer's share of a site's squared error; the rest is split evenly. 0: all layers alike.
  std::array<double, kNumSites> first_layer_shares{};
};

// Measured on a LLaMA of 12 layers, hidden size 768, 12 query and 4 key/value heads, after 39
// million tokens; blocks of 128, rounding to nearest.
ErrorTable LargeModelErrors();
// The same of the demo's model: 4 layers, hidden size 128, 4 heads, after 1 million tokens
// (tests/bench/gradient_errors.py).
ErrorTable SmallModelErrors();
// The table of the model that was measured nearest in size.
ErrorTable DefaultErrorTable(const ModelShape& model);

// Squared error that layer `layer` of `num_layers` adds. A recomputed site is charged as its source
// is kept: q k v as x1, gate and up as x2; from a full source nothing. Other block sizes count as
// 128. A format without a column counts as the nearest one with fewer bits, or the last.
double SquaredError(const ErrorTable& table, const LayerPlan& plan, std::int64_t layer,
                    std::int64_t num_layers);

// Of the whole gradient: the root of the sum over layers. A ratio.
double PredictError(const ErrorTable& table, std::span<const LayerPlan> layers);

}  // namespace agoq
