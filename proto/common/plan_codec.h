// Messages of plan.proto and model shapes <-> the plain structs that planner and engine use; plans
// as text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/agoq/v1/job.pb.h"
#include "proto/agoq/v1/plan.pb.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct DecodedPlan {
  BitPlan plan;                     // complete only without errors
  std::vector<std::string> errors;  // each with place, value and remedy
};

// Sites without an entry are full; layers may come in any order but each must be there once. Call
// ReviewPlan on the result.
DecodedPlan DecodePlan(const v1::BitPlan& message);
v1::BitPlan EncodePlan(const BitPlan& plan);

// Proto JSON. `source` (a file's name) begins each error.
DecodedPlan PlanFromJson(std::string_view json, std::string_view source);
std::string PlanToJson(const BitPlan& plan);

// The shape of an inlined model that passed the checks; zero head_dim and num_key_value_heads are
// derived here.
ModelShape ShapeFromSpec(const v1::ModelSpec& model);
v1::ModelSpec SpecFromShape(const ModelShape& shape);

}  // namespace agoq
