// Everything that a training attempt is told, as plain values. Std only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/quant_spec.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

// AdamW; decay applies to matrices only. The rate warms up linearly over `warmup_steps`, then
// follows a cosine down to `min_rate_ratio` times the peak at the last step.
struct OptimizerOptions {
  double learning_rate = 3e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
  double clip_norm = 1.0;  // 0: no clipping
  std::int64_t warmup_steps = 0;
  double min_rate_ratio = 0.1;
};

struct CheckpointOptions {
  std::string directory;      // empty: no checkpoints
  std::int64_t interval = 0;  // steps between checkpoints; 0: only at the end
  std::int64_t keep = 2;      // newest ones that stay; 0: all
};

struct TrainOptions {
  std::string job_name;
  ModelShape model;
  ComputeType compute = ComputeType::kFloat32;
  std::optional<QuantSpec> gradient_spec =
      QuantSpec{Format::kInt8, kGradientBlock};  // none: the control store
  BitPlan plan;
  std::string model_config_json;  // the model as config.json, kept in checkpoints by value
  std::string plan_json;          // the plan as JSON, kept in checkpoints by value
  OptimizerOptions optimizer;
  CheckpointOptions checkpoint;

  std::string data_prefix;        // PREFIX.bin and PREFIX.idx
  std::string validation_prefix;  // empty: no evaluation at the end
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch_size = 1;  // sequences in one micro-batch of one rank
  std::int64_t micro_batches = 1;     // micro-batches of one rank in a step
  std::int64_t steps = 0;
  double max_seconds =
      0;  // 0: no bound; else the schedule runs over time and training ends after it
  std::uint64_t seed = 0;
  int threads = 1;                       // intra-op threads of a rank
  std::int64_t memory_budget_bytes = 0;  // of each rank; 0: no bound
  std::int64_t error_sample_interval =
      0;  // steps between samples of the quantization error; 0: never
  std::chrono::milliseconds collective_timeout{60000};
  std::int64_t generation = 0;  // of the attempt
};

}  // namespace agoq
