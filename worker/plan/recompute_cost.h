// What recomputing costs: the part of a step's products that is done twice. Pure.
#pragma once

#include <cstdint>

#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

// Slow-down of a step that one layer's recomputing brings: products done again over the products of
// a step without recomputing (forward and backward, head included). A ratio.
double RecomputeSlowdown(const ModelShape& model, std::int64_t sequence_length,
                         const LayerPlan& plan);

}  // namespace agoq
