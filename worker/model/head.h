// Final norm, projection to the vocabulary, cross-entropy: in chunks of tokens, so that logits of a
// whole micro-batch never exist. Shapes: T tokens, C tokens of a chunk, D hidden, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include "worker/model/block_context.h"
#include "worker/model/gradient_sink.h"
#include "worker/model/parameters.h"

namespace agoq {

struct HeadGradients {
  double loss_sum = 0;        // nats, over the targets that count
  at::Tensor grad_x_TD;       // compute type
  at::Tensor grad_weight_VD;  // of the projection, control type
};

class Head {
 public:
  // Borrows the parameters.
  explicit Head(const Parameters& parameters) : parameters_(parameters) {}

  double LossSum(const at::Tensor& x_TD, const at::Tensor& targets_T,
                 const BlockContext& context) const;
  // Gradients of loss_sum times `scale`. The final norm's goes to `sink`, the projection's is the
  // caller's: a tied head shares it with the embedding.
  HeadGradients LossAndGradients(const at::Tensor& x_TD, const at::Tensor& targets_T, double scale,
                                 const BlockContext& context, GradientSink& sink) const;
  // Of each row of x.
  at::Tensor Logits(const at::Tensor& x_CD, const BlockContext& context) const;

 private:
  at::Tensor Norm(const at::Tensor& x_CD, const BlockContext& context) const;
  void AddChunk(const at::Tensor& x_CD, const at::Tensor& targets_C, double scale,
                const BlockContext& context, const at::Tensor& grad_x_CD,
                const at::Tensor& grad_norm_weight_D, HeadGradients& gradients) const;

  const Parameters& parameters_;
};

}  // namespace agoq
