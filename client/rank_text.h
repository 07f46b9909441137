// What one rank holds: bits, bytes and errors by label. Pure.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <string>

#include "proto/agoq/v1/job_status.pb.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

using LabelBytesList = google::protobuf::RepeatedPtrField<v1::LabelBytes>;

// The compute type of a job, for the width of what is kept full.
ComputeType ComputeOf(const v1::JobSpec& spec);

// "4.25", or "4.25 (0-3), 32 (4-5)" where layers differ; recomputed sites are named so.
std::string BitsByLayers(const RankPlan& rank, Site site, ComputeType compute);

// "weights 3.1 MiB, x1 1.0 MiB", the largest first, and without those of zero bytes.
std::string LabelsText(const LabelBytesList& labels);
std::int64_t SumOf(const LabelBytesList& labels);

struct RankFigures {
  const RankPlan* plan = nullptr;          // null: unknown
  const v1::RankResult* result = nullptr;  // null: none yet
  ComputeType compute = ComputeType::kFloat32;
};

// One line a label, in the order of memory_label.h: bits, bytes predicted and measured at the peak,
// quantization error and the layer where it is worst.
std::string RankLabelTable(const RankFigures& figures);

}  // namespace agoq
