// The blocks of one rank with embedding and head: micro-batches through them, forward and backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "kernels/ops/rope.h"
#include "worker/model/block.h"
#include "worker/model/gradient_sink.h"
#include "worker/model/head.h"
#include "worker/model/parameters.h"
#include "worker/model/token_batch.h"

namespace agoq {

// What a micro-batch keeps between its forward and its backward pass.
struct SavedStage {
  std::vector<SavedBlock> blocks;
  at::Tensor x_TD;  // output of the last block
};

// How a forward pass keeps its sites. Borrowed for the call.
struct StageSave {
  const std::vector<LayerPlan>& layers;
  NonFinite* non_finite = nullptr;                // may be null
  std::vector<LayerErrorSums>* errors = nullptr;  // one a layer; null: errors are not measured
};

struct StageOptions {
  ModelShape shape;
  ComputeType compute = ComputeType::kFloat32;
  std::int64_t num_positions = 0;  // of the rotary table: the longest sequence
};

class Stage {
 public:
  // Weights are not initialised.
  explicit Stage(const StageOptions& options);
  Stage(const Stage&) = delete;  // blocks borrow the parameters
  Stage& operator=(const Stage&) = delete;

  const Parameters& parameters() const { return parameters_; }

  SavedStage Forward(const TokenBatch& batch, const StageSave& save) const;
  // Sum of the losses of the targets that count, in nats; the gradients of this sum times `scale`
  // go to `sink`. Uses `saved` up.
  double Backward(const TokenBatch& batch, SavedStage saved, double scale,
                  GradientSink& sink) const;

  // Forward alone; nothing is kept.
  double LossSum(const TokenBatch& batch) const;
  // Of the last token of each sequence: [batch, vocabulary].
  at::Tensor LastLogits(const TokenBatch& batch) const;

  // Ids in NonFinite: gradients carry their parameter's index, saved sites come after them.
  std::int32_t SiteTensorId(std::int64_t layer, Site site) const;
  // "model.norm.weight" or "layer 3 gate".
  std::string TensorName(std::int32_t tensor_id) const;

 private:
  BlockContext ContextOf(const TokenBatch& batch) const;
  at::Tensor Embed(const TokenBatch& batch) const;
  at::Tensor Run(const TokenBatch& batch) const;
  void EmbeddingGradient(const TokenBatch& batch, const at::Tensor& grad_x_TD,
                         at::Tensor grad_weight_VD, GradientSink& sink) const;

  StageOptions options_;
  Parameters parameters_;
  RopeTable rope_;
  std::vector<Block> blocks_;
  Head head_;
};

}  // namespace agoq
