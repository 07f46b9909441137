#include "worker/trainer/job_options.h"

#include <chrono>

#include "proto/agoq/v1/job.pb.h"
#include "proto/common/model_config.h"
#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

ComputeType ComputeOf(const v1::PrecisionSpec& precision) {
  switch (precision.compute()) {
    case v1::PrecisionSpec::COMPUTE_BFLOAT16:
      return ComputeType::kBFloat16;
    case v1::PrecisionSpec::COMPUTE_FLOAT64:
      return ComputeType::kFloat64;
    default:
      return ComputeType::kFloat32;
  }
}

// Checkpoints hold the optimizer's copy of the weights.
const char* CheckpointTypeOf(const v1::PrecisionSpec& precision) {
  return ComputeOf(precision) == ComputeType::kFloat64 ? "float64" : "float32";
}

std::optional<QuantSpec> GradientSpecOf(const v1::PrecisionSpec& precision) {
  if (precision.gradient_format() == v1::PrecisionSpec::GRADIENT_FORMAT_NONE) return std::nullopt;
  return QuantSpec{Format::kInt8, precision.gradient_block()};
}

OptimizerOptions OptimizerOf(const v1::OptimizerSpec& spec) {
  return {.learning_rate = spec.learning_rate(),
          .beta1 = spec.beta1(),
          .beta2 = spec.beta2(),
          .epsilon = spec.epsilon(),
          .weight_decay = spec.weight_decay(),
          .clip_norm = spec.clip_norm(),
          .warmup_steps = spec.warmup_steps(),
          .min_rate_ratio = spec.min_rate_ratio()};
}

void SetSteps(const v1::StepsSpec& spec, TrainOptions* options) {
  options->sequence_length = spec.sequence_length();
  options->micro_batch_size = spec.micro_batch_size();
  options->micro_batches = spec.micro_batches();
  options->steps = spec.total();
  options->max_seconds = spec.max_seconds();
  options->seed = spec.seed();
  options->threads = static_cast<int>(spec.threads());
}

}  // namespace

TrainOptions OptionsOf(const v1::JobSpec& job, const BitPlan& plan) {
  TrainOptions options;
  options.job_name = job.name();
  options.model = ShapeFromSpec(job.model());
  options.compute = ComputeOf(job.precision());
  options.gradient_spec = GradientSpecOf(job.precision());
  options.plan = plan;
  options.model_config_json = ModelConfigJson(job.model(), CheckpointTypeOf(job.precision()));
  options.plan_json = PlanToJson(options.plan);
  options.optimizer = OptimizerOf(job.optimizer());
  options.checkpoint = {job.checkpoint().uri(), job.checkpoint().interval(),
                        job.checkpoint().keep()};
  options.data_prefix = job.data().path();
  options.validation_prefix = job.data().validation_path();
  SetSteps(job.steps(), &options);
  options.memory_budget_bytes = job.plan().budget_bytes();
  options.error_sample_interval = job.plan().error_sample_interval();
  options.collective_timeout = std::chrono::milliseconds(
      static_cast<std::int64_t>(job.timeouts().collective_seconds() * 1000));
  return options;
}

}  // namespace agoq
