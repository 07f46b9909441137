#include "worker/model/stage.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "kernels/ops/embedding.h"
#include "worker/memory/counting_allocator.h"

namespace agoq {
namespace {

Parameters MakeParameters(const StageOptions& options) {
  const LabelScope label(MemoryLabel::kWeights);
  return Parameters(options.shape, options.compute);
}

// Keeps nothing at all: for passes without a backward.
LayerPlan DiscardLayer() {
  LayerPlan plan = RecomputeLayer();
  plan.at(Site::kX1).kind = PolicyKind::kRecompute;
  return plan;
}

}  // namespace

Stage::Stage(const StageOptions& options)
    : options_(options),
      parameters_(MakeParameters(options)),
      rope_(ops::MakeRopeTable({.num_positions = options.num_positions,
                                .head_size = options.shape.head_size,
                                .theta = options.shape.rope_theta,
                                .type = ControlTypeOf(options.compute)})),
      head_(parameters_) {
  for (std::int64_t layer = 0; layer < options.shape.num_layers; ++layer) {
    blocks_.emplace_back(parameters_.blocks()[layer], layer);
  }
}

BlockContext Stage::ContextOf(const TokenBatch& batch) const {
  return {.shape = options_.shape,
          .rope = rope_,
          .positions_T = batch.positions_T,
          .dims = {.batch = batch.batch,
                   .sequence = batch.sequence,
                   .num_heads = options_.shape.num_heads,
                   .num_kv_heads = options_.shape.num_kv_heads,
                   .head_size = options_.shape.head_size},
          .compute = ScalarTypeOf(options_.compute),
          .control = ControlTypeOf(options_.compute)};
}

at::Tensor Stage::Embed(const TokenBatch& batch) const {
  const at::Tensor x_TD =
      at::empty({batch.num_tokens(), options_.shape.hidden_size}, ScalarTypeOf(options_.compute));
  ops::Embedding({.ids_T = batch.ids_T, .table_VD = parameters_.embedding_VD(), .out_TD = x_TD});
  return x_TD;
}

SavedStage Stage::Forward(const TokenBatch& batch, const StageSave& save) const {
  const BlockContext context = ContextOf(batch);
  SavedStage saved;
  saved.blocks.resize(blocks_.size());
  saved.x_TD = Embed(batch);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const SaveContext keep = {
        .plan = save.layers[layer],
        .first_tensor_id = SiteTensorId(static_cast<std::int64_t>(layer), Site::kX1),
        .non_finite = save.non_finite,
        .errors = save.errors == nullptr ? nullptr : &(*save.errors)[layer]};
    saved.x_TD = blocks_[layer].Forward(std::move(saved.x_TD), context, keep, saved.blocks[layer]);
  }
  return saved;
}

double Stage::Backward(const TokenBatch& batch, SavedStage saved, double scale,
                       GradientSink& sink) const {
  const BlockContext context = ContextOf(batch);
  HeadGradients head = head_.LossAndGradients(saved.x_TD, batch.targets_T, scale, context, sink);
  saved.x_TD.reset();
  if (!options_.shape.tied_head) {
    sink.Add(parameters_.list().head, std::exchange(head.grad_weight_VD, at::Tensor()));
  }
  for (std::size_t layer = blocks_.size(); layer-- > 0;) {
    blocks_[layer].Backward(head.grad_x_TD, context, saved.blocks[layer], sink);
    saved.blocks.pop_back();
  }
  EmbeddingGradient(batch, head.grad_x_TD, std::move(head.grad_weight_VD), sink);
  return head.loss_sum;
}

// A tied head's part comes in grad_weight, so that a micro-batch adds to the store once.
void Stage::EmbeddingGradient(const TokenBatch& batch, const at::Tensor& grad_x_TD,
                              at::Tensor grad_weight_VD, GradientSink& sink) const {
  if (!grad_weight_VD.defined()) {
    grad_weight_VD = at::zeros(parameters_.embedding_VD().sizes(), ControlTypeOf(options_.compute));
  }
  ops::EmbeddingBackward(
      {.ids_T = batch.ids_T, .grad_TD = grad_x_TD, .grad_table_VD = grad_weight_VD});
  sink.Add(ParameterList::embedding(), grad_weight_VD);
}

at::Tensor Stage::Run(const TokenBatch& batch) const {
  const BlockContext context = ContextOf(batch);
  const LayerPlan discard = DiscardLayer();
  at::Tensor x_TD = Embed(batch);
  for (const Block& block : blocks_) {
    SavedBlock saved;
    x_TD = block.Forward(std::move(x_TD), context, {.plan = discard}, saved);
  }
  return x_TD;
}

double Stage::LossSum(const TokenBatch& batch) const {
  return head_.LossSum(Run(batch), batch.targets_T, ContextOf(batch));
}

at::Tensor Stage::LastLogits(const TokenBatch& batch) const {
  const at::Tensor x_TD = Run(batch);
  const std::int64_t hidden = options_.shape.hidden_size;
  const at::Tensor last_BD = x_TD.as_strided({batch.batch, hidden}, {batch.sequence * hidden, 1},
                                             (batch.sequence - 1) * hidden);
  return head_.Logits(last_BD, ContextOf(batch));
}

std::int32_t Stage::SiteTensorId(std::int64_t layer, Site site) const {
  return static_cast<std::int32_t>(parameters_.list().size() + layer * kNumSites +
                                   static_cast<std::int64_t>(site));
}

std::string Stage::TensorName(std::int32_t tensor_id) const {
  const int num_parameters = parameters_.list().size();
  if (tensor_id < num_parameters) {
    return parameters_.list().parameters[tensor_id].name;
  }
  const int index = tensor_id - num_parameters;
  return "layer " + std::to_string(index / kNumSites) + " " +
         std::string(NameOf(static_cast<Site>(index % kNumSites)));
}

}  // namespace agoq
