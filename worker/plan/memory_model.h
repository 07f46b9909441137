// The bytes of a training step, predicted: the same labels that the trainer measures. Pure.
//
// The model walks through a step as the engine does (worker/model, worker/train), allocating and
// freeing the same sizes in the same order; a test holds the two together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/quant_spec.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/memory_label.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct MemoryModelInput {
  ModelShape model;
  ComputeType compute = ComputeType::kFloat32;
  std::optional<QuantSpec> gradient_spec;  // none: the control store
  std::vector<LayerPlan> layers;           // valid by ReviewPlan
  std::int64_t micro_batch_size = 1;       // sequences
  std::int64_t micro_batches = 1;          // of one rank in a step
  std::int64_t sequence_length = 0;
  std::int64_t num_ranks = 1;
  int threads = 1;  // attention holds buffers for each
  bool samples_errors = false;
};

// The bytes by label at the moment of the largest total.
MemoryBytes PredictPeak(const MemoryModelInput& input);

}  // namespace agoq
