#include "worker/daemon/rank_figures.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "proto/common/plan_codec.h"
#include "worker/plan/memory_model.h"

namespace agoq {
namespace {

std::string WordOf(const SitePolicy& policy) {
  if (policy.kind == PolicyKind::kFull) return "full";
  if (policy.kind == PolicyKind::kRecompute) return "recompute";
  return absl::StrCat(BitsOf(policy.spec.format));
}

ComputeType ComputeOf(v1::PrecisionSpec::Compute compute) {
  if (compute == v1::PrecisionSpec::COMPUTE_BFLOAT16) return ComputeType::kBFloat16;
  if (compute == v1::PrecisionSpec::COMPUTE_FLOAT64) return ComputeType::kFloat64;
  return ComputeType::kFloat32;
}

std::optional<QuantSpec> GradientSpecOf(const v1::PrecisionSpec& precision) {
  if (precision.gradient_format() == v1::PrecisionSpec::GRADIENT_FORMAT_NONE) return std::nullopt;
  return QuantSpec{Format::kInt8, precision.gradient_block()};
}

// The model may assume what a checked job has; a task is only as good as its sender.
bool IsWhole(const v1::JobSpec& spec) {
  const v1::ModelSpec& model = spec.model();
  return model.hidden_size() > 0 && model.intermediate_size() > 0 && model.vocab_size() > 0 &&
         model.num_attention_heads() > 0 && spec.steps().sequence_length() > 0 &&
         spec.steps().micro_batch_size() > 0 && spec.steps().micro_batches() > 0 &&
         (spec.precision().gradient_format() == v1::PrecisionSpec::GRADIENT_FORMAT_NONE ||
          spec.precision().gradient_block() > 0);
}

std::vector<v1::LabelBytes> PlannedBytes(const v1::TrainerTask& task, const RankPlan& rank) {
  const v1::JobSpec& spec = task.spec();
  const MemoryBytes peak =
      PredictPeak({.model = ShapeFromSpec(spec.model()),
                   .compute = ComputeOf(spec.precision().compute()),
                   .gradient_spec = GradientSpecOf(spec.precision()),
                   .layers = rank.layers,
                   .micro_batch_size = spec.steps().micro_batch_size(),
                   .micro_batches = spec.steps().micro_batches(),
                   .sequence_length = spec.steps().sequence_length(),
                   .num_ranks = std::max<std::int64_t>(task.world(), 1),
                   .threads = static_cast<int>(std::max<std::int64_t>(spec.steps().threads(), 1)),
                   .samples_errors = spec.plan().error_sample_interval() > 0});
  std::vector<v1::LabelBytes> planned;
  for (int i = 0; i < kNumMemoryLabels; ++i) {
    const auto label = static_cast<MemoryLabel>(i);
    v1::LabelBytes& bytes = planned.emplace_back();
    bytes.set_label(std::string(NameOf(label)));
    bytes.set_bytes(peak[label]);
  }
  return planned;
}

}  // namespace

RankFigures FiguresOf(const v1::TrainerTask& task) {
  RankFigures figures;
  const DecodedPlan decoded = DecodePlan(task.plan());
  const std::int64_t num_layers = task.spec().model().num_hidden_layers();
  if (!decoded.errors.empty() ||
      !ReviewPlan(decoded.plan, num_layers, task.world()).errors.empty()) {
    return figures;
  }
  for (const RankPlan& rank : decoded.plan.ranks) {
    if (rank.rank != task.id().rank()) continue;
    for (const LayerPlan& layer : rank.layers) {
      for (const SitePolicy& policy : layer.sites) {
        figures.layers_by_bits[WordOf(policy)] += 1.0 / kNumSites;
      }
    }
    if (IsWhole(task.spec())) figures.planned = PlannedBytes(task, rank);
  }
  return figures;
}

}  // namespace agoq
