// The first half of a block: norm, projections, rotary embedding, attention, output projection,
// residual. Shapes: T tokens, D hidden, Q query, K key or value, E = Q + 2 K.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "worker/model/block_context.h"
#include "worker/model/gradient_sink.h"
#include "worker/model/parameters.h"
#include "worker/model/saved.h"

namespace agoq {

struct SavedAttention {
  SavedTensor x1;
  SavedTensor q;
  SavedTensor k;
  SavedTensor v;
  SavedTensor o;
  at::Tensor lse_BHS;  // kept with o
};

class Attention {
 public:
  // Borrows the weights; `layer` finds the gradients' indices.
  Attention(const BlockWeights& weights, std::int64_t layer) : weights_(weights), layer_(layer) {}

  // x1 -> x2. Gives x1 up as soon as the plan lets it.
  at::Tensor Forward(at::Tensor x1_TD, const BlockContext& context, const SaveContext& save,
                     SavedAttention& saved) const;
  // Gradient of x2 -> of x1, in the same memory. Uses `saved` up.
  void Backward(const at::Tensor& grad_TD, const BlockContext& context, SavedAttention& saved,
                GradientSink& sink) const;

 private:
  at::Tensor OutputGradient(const at::Tensor& grad_TD, const at::Tensor& o_TQ,
                            const BlockContext& context, GradientSink& sink) const;
  at::Tensor ProjectionGradient(const at::Tensor& grad_TD, const BlockContext& context,
                                SavedAttention& saved, GradientSink& sink, at::Tensor& x1_TD,
                                at::Tensor& norm_TD) const;
  AttentionInputs TakeInputs(const BlockContext& context, SavedAttention& saved, at::Tensor& x1_TD,
                             at::Tensor& norm_TD) const;
  at::Tensor Project(const at::Tensor& norm_TD, Site site, const BlockContext& context) const;
  at::Tensor Norm(const at::Tensor& x1_TD, const BlockContext& context) const;

  const BlockWeights& weights_;
  std::int64_t layer_;
};

}  // namespace agoq
