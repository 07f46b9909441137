#include "worker/plan/memory_model.h"

#include <algorithm>
#include <vector>

#include "worker/plan/gradient_layout.h"
#include "worker/plan/head_chunk.h"
#include "worker/plan/parameter_list.h"
#include "worker/plan/reduce_workspace.h"
#include "worker/plan/simulated_block.h"
#include "worker/plan/simulated_memory.h"

namespace agoq {
namespace {

using Tensor = SimulatedMemory::Tensor;

// Bytes of a token in a batch: id, target, position, and whether a document starts.
constexpr std::int64_t kBatchBytesPerToken = 3 * 8 + 1;
// The step that runs and the one that is read ahead.
constexpr std::int64_t kStepsOfBatches = 2;

class StepSimulation {
 public:
  explicit StepSimulation(const MemoryModelInput& input)
      : input_(input),
        list_(ListParameters(input.model)),
        tokens_(input.micro_batch_size * input.sequence_length),
        dims_{.model = input.model,
              .compute = input.compute,
              .tokens = tokens_,
              .attention = {.sequence = input.sequence_length,
                            .head_size = input.model.head_size,
                            .compute = input.compute,
                            .threads = input.threads},
              .samples_errors = input.samples_errors} {}

  MemoryBytes Run() {
    HoldStatic();
    RunMicroBatch();
    Reduce();
    return memory_.peak();
  }

 private:
  std::int64_t Bytes(std::int64_t elements) const { return elements * BytesOf(input_.compute); }
  std::int64_t control_size() const { return input_.compute == ComputeType::kFloat64 ? 8 : 4; }

  void Hold(std::int64_t bytes, MemoryLabel label) {
    held_.push_back(memory_.Allocate(bytes, label));
  }

  void HoldStatic();
  void HoldGradients();
  void RunMicroBatch();
  Tensor RunHead(const Tensor& x, Tensor& grad_weight);
  void Reduce();

  const MemoryModelInput& input_;
  const ParameterList list_;
  const std::int64_t tokens_;
  const SimulatedBlock::Dims dims_;
  SimulatedMemory memory_;
  std::vector<Tensor> held_;
};

void StepSimulation::HoldStatic() {
  const std::int64_t parameters = list_.num_elements();
  Hold(Bytes(parameters), MemoryLabel::kWeights);
  const std::int64_t master = input_.compute == ComputeType::kBFloat16 ? 4 : 0;
  Hold(parameters * (2 * control_size() + master), MemoryLabel::kOptimizer);
  HoldGradients();
  const std::int64_t rope_elements = input_.sequence_length * input_.model.head_size;
  Hold(rope_elements * control_size(), MemoryLabel::kWorkspace);
  Hold(kStepsOfBatches * input_.micro_batches * tokens_ * kBatchBytesPerToken,
       MemoryLabel::kWorkspace);
}

void StepSimulation::HoldGradients() {
  const GradientLayout layout = LayOutGradients(list_, input_.gradient_spec);
  Hold((layout.large_elements + layout.small_elements) * control_size(), MemoryLabel::kGradients);
  if (!input_.gradient_spec.has_value()) return;
  Hold(PackedBytes(*input_.gradient_spec, layout.quantized_elements), MemoryLabel::kGradients);
}

void StepSimulation::RunMicroBatch() {
  std::vector<SimulatedBlock> blocks;
  for (const LayerPlan& plan : input_.layers) blocks.emplace_back(memory_, dims_, plan);
  Tensor x = memory_.Allocate(Bytes(tokens_ * input_.model.hidden_size));
  for (SimulatedBlock& block : blocks) x = block.Forward(std::move(x));
  Tensor grad_weight;
  const Tensor grad_x = RunHead(x, grad_weight);
  x = nullptr;
  if (!input_.model.tied_head) grad_weight = nullptr;
  while (!blocks.empty()) {
    blocks.back().Backward();
    blocks.pop_back();
  }
  if (grad_weight != nullptr) return;  // the embedding's gradient joins the head's
  memory_.Touch(input_.model.vocab_size * input_.model.hidden_size * control_size());
}

// The gradient of x; the projection's in grad_weight.
Tensor StepSimulation::RunHead(const Tensor& x, Tensor& grad_weight) {
  static_cast<void>(x);  // held meanwhile
  const std::int64_t hidden = input_.model.hidden_size;
  const std::int64_t vocab = input_.model.vocab_size;
  Tensor grad_x = memory_.Allocate(Bytes(tokens_ * hidden));
  grad_weight = memory_.Allocate(vocab * hidden * control_size());
  const Tensor grad_norm = memory_.Allocate(hidden * control_size());
  const std::int64_t chunk = HeadChunkTokens(tokens_, vocab);
  const Tensor norm = memory_.Allocate(Bytes(chunk * hidden));
  const Tensor logits = memory_.Allocate(Bytes(chunk * vocab));
  if (input_.compute == ComputeType::kBFloat16) memory_.Touch(Bytes(vocab * hidden));
  memory_.Touch(hidden * control_size());
  return grad_x;
}

void StepSimulation::Reduce() {
  if (input_.num_ranks == 1) return;
  const GradientLayout layout = LayOutGradients(list_, input_.gradient_spec);
  if (input_.gradient_spec.has_value()) {
    memory_.Touch(QuantizedReduceWorkspaceBytes(*input_.gradient_spec, layout.quantized_elements,
                                                input_.num_ranks, kReduceBucketElements));
  }
  memory_.Touch(ExactReduceWorkspaceBytes(layout.large_elements, control_size(), input_.num_ranks,
                                          kReduceBucketElements));
  memory_.Touch(SmallReduceWorkspaceBytes(layout.small_elements, control_size(), input_.num_ranks));
}

}  // namespace

MemoryBytes PredictPeak(const MemoryModelInput& input) { return StepSimulation(input).Run(); }

}  // namespace agoq
