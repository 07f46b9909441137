#include "worker/model/head.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "kernels/ops/accumulate.h"
#include "kernels/ops/cross_entropy.h"
#include "kernels/ops/rmsnorm.h"
#include "worker/model/linear.h"
#include "worker/plan/head_chunk.h"

namespace agoq {
namespace {

// grad_weight += grad_logits^T norm. A bf16 product is rounded once a chunk, not summed in bf16.
void AddWeightGradient(const at::Tensor& grad_logits_CV, const at::Tensor& norm_CD,
                       const at::Tensor& grad_weight_VD) {
  if (norm_CD.scalar_type() == grad_weight_VD.scalar_type()) {
    Linear::WeightGradientAdd({grad_logits_CV}, {norm_CD}, grad_weight_VD);
    return;
  }
  const at::Tensor part_VD = at::empty(grad_weight_VD.sizes(), norm_CD.scalar_type());
  Linear::WeightGradient({grad_logits_CV}, {norm_CD}, part_VD);
  ops::Accumulate({.sum = grad_weight_VD, .addend = part_VD, .mode = GradientMode::kAdd});
}

}  // namespace

at::Tensor Head::Norm(const at::Tensor& x_CD, const BlockContext& context) const {
  const at::Tensor norm_CD = at::empty(x_CD.sizes(), context.compute);
  ops::RmsNorm({.x_TD = x_CD,
                .weight_D = parameters_.final_norm_D(),
                .epsilon = context.shape.norm_epsilon,
                .out_TD = norm_CD});
  return norm_CD;
}

at::Tensor Head::Logits(const at::Tensor& x_CD, const BlockContext& context) const {
  const at::Tensor logits_CV = at::empty({x_CD.size(0), context.shape.vocab_size}, context.compute);
  Linear(parameters_.head_VD()).Forward({Norm(x_CD, context)}, logits_CV);
  return logits_CV;
}

double Head::LossSum(const at::Tensor& x_TD, const at::Tensor& targets_T,
                     const BlockContext& context) const {
  const std::int64_t tokens = x_TD.size(0);
  const std::int64_t step = HeadChunkTokens(tokens, context.shape.vocab_size);
  double loss_sum = 0;
  for (std::int64_t first = 0; first < tokens; first += step) {
    const std::int64_t count = std::min(step, tokens - first);
    loss_sum += ops::CrossEntropy({.logits_TV = Logits(x_TD.narrow(0, first, count), context),
                                   .targets_T = targets_T.narrow(0, first, count),
                                   .mode = CrossEntropyMode::kLoss});
  }
  return loss_sum;
}

void Head::AddChunk(const at::Tensor& x_CD, const at::Tensor& targets_C, double scale,
                    const BlockContext& context, const at::Tensor& grad_x_CD,
                    const at::Tensor& grad_norm_weight_D, HeadGradients& gradients) const {
  const Linear projection(parameters_.head_VD());
  const at::Tensor norm_CD = Norm(x_CD, context);
  at::Tensor logits_CV = at::empty({x_CD.size(0), context.shape.vocab_size}, context.compute);
  projection.Forward({norm_CD}, logits_CV);
  gradients.loss_sum += ops::CrossEntropy({.logits_TV = logits_CV,
                                           .targets_T = targets_C,
                                           .scale = scale,
                                           .mode = CrossEntropyMode::kLossAndGradient});
  const at::Tensor& grad_logits_CV = logits_CV;
  AddWeightGradient(grad_logits_CV, norm_CD, gradients.grad_weight_VD);
  const at::Tensor& grad_norm_CD = norm_CD;  // the norm itself is not needed any more
  projection.InputGradient({grad_logits_CV}, grad_norm_CD);
  const at::Tensor part_D = at::empty(grad_norm_weight_D.sizes(), context.control);
  ops::RmsNormBackward({.x_TD = x_CD,
                        .weight_D = parameters_.final_norm_D(),
                        .epsilon = context.shape.norm_epsilon,
                        .grad_out_TD = grad_norm_CD,
                        .grad_x_TD = grad_x_CD,
                        .grad_weight_D = part_D});
  ops::Accumulate({.sum = grad_norm_weight_D, .addend = part_D, .mode = GradientMode::kAdd});
}

HeadGradients Head::LossAndGradients(const at::Tensor& x_TD, const at::Tensor& targets_T,
                                     double scale, const BlockContext& context,
                                     GradientSink& sink) const {
  const std::int64_t tokens = x_TD.size(0);
  const std::int64_t step = HeadChunkTokens(tokens, context.shape.vocab_size);
  HeadGradients gradients = {
      .grad_x_TD = at::zeros(x_TD.sizes(), context.compute),
      .grad_weight_VD = at::zeros(parameters_.head_VD().sizes(), context.control)};
  const at::Tensor grad_norm_weight_D =
      at::zeros(parameters_.final_norm_D().sizes(), context.control);
  for (std::int64_t first = 0; first < tokens; first += step) {
    const std::int64_t count = std::min(step, tokens - first);
    AddChunk(x_TD.narrow(0, first, count), targets_T.narrow(0, first, count), scale, context,
             gradients.grad_x_TD.narrow(0, first, count), grad_norm_weight_D, gradients);
  }
  sink.Add(parameters_.list().final_norm, grad_norm_weight_D);
  return gradients;
}

}  // namespace agoq
