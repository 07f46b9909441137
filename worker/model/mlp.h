// The second half of a block: norm, gate and up projections, SwiGLU, down projection, residual.
// Shapes: T tokens, D hidden, F ffn.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "worker/model/block_context.h"
#include "worker/model/gradient_sink.h"
#include "worker/model/parameters.h"
#include "worker/model/saved.h"

namespace agoq {

struct SavedMlp {
  SavedTensor x2;
  at::Tensor gate_up_T2F;  // when both are full; else each on its own
  SavedTensor gate;
  SavedTensor up;
};

class Mlp {
 public:
  // Borrows the weights; `layer` finds the gradients' indices.
  Mlp(const BlockWeights& weights, std::int64_t layer) : weights_(weights), layer_(layer) {}

  // x2 -> the block's output. Gives x2 up as soon as the plan lets it.
  at::Tensor Forward(at::Tensor x2_TD, const BlockContext& context, const SaveContext& save,
                     SavedMlp& saved) const;
  // Gradient of the output -> of x2, in the same memory. Uses `saved` up.
  void Backward(const at::Tensor& grad_TD, const BlockContext& context, SavedMlp& saved,
                GradientSink& sink) const;

 private:
  at::Tensor Norm(const at::Tensor& x2_TD, const BlockContext& context) const;
  at::Tensor TakeGateUp(const BlockContext& context, SavedMlp& saved, at::Tensor& x2_TD,
                        at::Tensor& norm_TD) const;
  void DownGradient(const at::Tensor& grad_TD, const at::Tensor& gate_up_T2F,
                    const BlockContext& context, GradientSink& sink) const;

  const BlockWeights& weights_;
  std::int64_t layer_;
};

}  // namespace agoq
