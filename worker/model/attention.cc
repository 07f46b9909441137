#include "worker/model/attention.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "kernels/ops/rmsnorm.h"
#include "worker/memory/counting_allocator.h"
#include "worker/model/linear.h"

namespace agoq {
namespace {

// Columns of the packed projection, which are the rows of its weight.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Range RangeOf(Site site, const ModelShape& shape) {
  if (site == Site::kQ) return {0, shape.query_size()};
  const std::int64_t first = shape.query_size() + (site == Site::kV ? shape.kv_size() : 0);
  return {first, shape.kv_size()};
}

at::Tensor Columns(const at::Tensor& qkv_TE, Site site, const ModelShape& shape) {
  const Range range = RangeOf(site, shape);
  return qkv_TE.narrow(1, range.first, range.count);
}

void Rotate(const at::Tensor& in_TE, const at::Tensor& out_TE, const BlockContext& context,
            RopeDirection direction) {
  ops::Rope({.in_TE = in_TE,
             .out_TE = out_TE,
             .positions_T = context.positions_T,
             .table = context.rope,
             .head_size = context.shape.head_size,
             .direction = direction});
}

bool AreAllFull(const LayerPlan& plan) {
  for (const Site site : {Site::kQ, Site::kK, Site::kV}) {
    if (plan.at(site).kind != PolicyKind::kFull) return false;
  }
  return true;
}

// One storage when all three are full, else each on its own.
void SaveInputs(const at::Tensor& qkv_TE, const AttentionInputs& inputs, const SaveContext& save,
                SavedAttention& saved) {
  const bool together = AreAllFull(save.plan);
  const auto keep = together ? &SaveView : &Save;
  saved.q = keep(inputs.q_TQ, Site::kQ, save);
  saved.k = keep(inputs.k_TK, Site::kK, save);
  saved.v = keep(inputs.v_TK, Site::kV, save);
  if (!together) return;
  const auto bytes = [](const at::Tensor& x) { return static_cast<std::int64_t>(x.nbytes()); };
  Relabel(qkv_TE.storage(), {{MemoryLabel::kQ, bytes(inputs.q_TQ)},
                             {MemoryLabel::kK, bytes(inputs.k_TK)},
                             {MemoryLabel::kV, bytes(inputs.v_TK)}});
}

void SaveOutput(const AttentionOutput& output, const SaveContext& save, SavedAttention& saved) {
  if (save.plan.at(Site::kO).kind == PolicyKind::kRecompute) return;
  saved.o = Save(output.o_TQ, Site::kO, save);
  saved.lse_BHS = output.lse_BHS;
  Relabel(output.lse_BHS.storage(),
          {{MemoryLabel::kO, static_cast<std::int64_t>(output.lse_BHS.nbytes())}});
}

}  // namespace

at::Tensor Attention::Norm(const at::Tensor& x1_TD, const BlockContext& context) const {
  const at::Tensor norm_TD = at::empty(x1_TD.sizes(), context.compute);
  ops::RmsNorm({.x_TD = x1_TD,
                .weight_D = weights_.input_norm_D,
                .epsilon = context.shape.norm_epsilon,
                .out_TD = norm_TD});
  return norm_TD;
}

at::Tensor Attention::Forward(at::Tensor x1_TD, const BlockContext& context,
                              const SaveContext& save, SavedAttention& saved) const {
  const ModelShape& shape = context.shape;
  saved.x1 = Save(x1_TD, Site::kX1, save);
  at::Tensor qkv_TE = at::empty({context.num_tokens(), shape.qkv_size()}, context.compute);
  Linear(weights_.qkv_ED).Forward({Norm(x1_TD, context)}, qkv_TE);
  AttentionInputs inputs = {.q_TQ = Columns(qkv_TE, Site::kQ, shape),
                            .k_TK = Columns(qkv_TE, Site::kK, shape),
                            .v_TK = Columns(qkv_TE, Site::kV, shape)};
  Rotate(inputs.q_TQ, inputs.q_TQ, context, RopeDirection::kForward);
  Rotate(inputs.k_TK, inputs.k_TK, context, RopeDirection::kForward);
  SaveInputs(qkv_TE, inputs, save, saved);

  const AttentionOutput output = AttentionForward(inputs, context.dims);
  inputs = {};
  qkv_TE.reset();
  SaveOutput(output, save, saved);
  const at::Tensor x2_TD = at::empty(x1_TD.sizes(), context.compute);
  Linear(weights_.o_DQ).ForwardAdd({output.o_TQ}, x1_TD, x2_TD);
  return x2_TD;
}

at::Tensor Attention::OutputGradient(const at::Tensor& grad_TD, const at::Tensor& o_TQ,
                                     const BlockContext& context, GradientSink& sink) const {
  {
    const at::Tensor grad_weight_DQ = at::empty(weights_.o_DQ.sizes(), context.compute);
    Linear::WeightGradient({grad_TD}, {o_TQ}, grad_weight_DQ);
    sink.Add(ParameterList::InBlock(layer_, kOProj), grad_weight_DQ);
  }
  const at::Tensor grad_o_TQ = at::empty(o_TQ.sizes(), context.compute);
  Linear(weights_.o_DQ).InputGradient({grad_TD}, grad_o_TQ);
  return grad_o_TQ;
}

at::Tensor Attention::Project(const at::Tensor& norm_TD, Site site,
                              const BlockContext& context) const {
  const Range range = RangeOf(site, context.shape);
  const at::Tensor out_TE = at::empty({norm_TD.size(0), range.count}, context.compute);
  Linear(weights_.qkv_ED.narrow(0, range.first, range.count)).Forward({norm_TD}, out_TE);
  if (site != Site::kV) Rotate(out_TE, out_TE, context, RopeDirection::kForward);
  return out_TE;
}

AttentionInputs Attention::TakeInputs(const BlockContext& context, SavedAttention& saved,
                                      at::Tensor& x1_TD, at::Tensor& norm_TD) const {
  const auto take = [&](SavedTensor& site_saved, Site site) {
    if (site_saved.kept()) return site_saved.Take(context.compute);
    if (!norm_TD.defined()) {
      x1_TD = saved.x1.Take(context.compute);
      norm_TD = Norm(x1_TD, context);
    }
    return Project(norm_TD, site, context);
  };
  AttentionInputs inputs;
  inputs.q_TQ = take(saved.q, Site::kQ);
  inputs.k_TK = take(saved.k, Site::kK);
  inputs.v_TK = take(saved.v, Site::kV);
  return inputs;
}

// Gradient of the packed projection's output; fills x1 and its norm where they were needed for a
// recomputed site.
at::Tensor Attention::ProjectionGradient(const at::Tensor& grad_TD, const BlockContext& context,
                                         SavedAttention& saved, GradientSink& sink,
                                         at::Tensor& x1_TD, at::Tensor& norm_TD) const {
  const ModelShape& shape = context.shape;
  AttentionOutput output = {.o_TQ = saved.o.Take(context.compute),
                            .lse_BHS = std::exchange(saved.lse_BHS, at::Tensor())};
  at::Tensor grad_o_TQ = OutputGradient(grad_TD, output.o_TQ, context, sink);
  AttentionInputs inputs = TakeInputs(context, saved, x1_TD, norm_TD);
  const AttentionGradients grads = AttentionBackward(grad_o_TQ, inputs, output, context.dims);
  grad_o_TQ.reset();
  inputs = {};
  output = {};
  const at::Tensor grad_qkv_TE =
      at::empty({context.num_tokens(), shape.qkv_size()}, context.compute);
  Rotate(grads.grad_q_TQ, Columns(grad_qkv_TE, Site::kQ, shape), context, RopeDirection::kBackward);
  Rotate(grads.grad_k_TK, Columns(grad_qkv_TE, Site::kK, shape), context, RopeDirection::kBackward);
  Columns(grad_qkv_TE, Site::kV, shape).copy_(grads.grad_v_TK);
  return grad_qkv_TE;
}

void Attention::Backward(const at::Tensor& grad_TD, const BlockContext& context,
                         SavedAttention& saved, GradientSink& sink) const {
  at::Tensor x1_TD;
  at::Tensor norm_TD;
  at::Tensor grad_qkv_TE = ProjectionGradient(grad_TD, context, saved, sink, x1_TD, norm_TD);
  if (!x1_TD.defined()) {
    x1_TD = saved.x1.Take(context.compute);
    norm_TD = Norm(x1_TD, context);
  }
  {
    const at::Tensor grad_weight_ED = at::empty(weights_.qkv_ED.sizes(), context.compute);
    Linear::WeightGradient({grad_qkv_TE}, {norm_TD}, grad_weight_ED);
    const std::pair<Site, BlockParameter> parts[] = {
        {Site::kQ, kQProj}, {Site::kK, kKProj}, {Site::kV, kVProj}};
    for (const auto& [site, parameter] : parts) {
      const Range range = RangeOf(site, context.shape);
      sink.Add(ParameterList::InBlock(layer_, parameter),
               grad_weight_ED.narrow(0, range.first, range.count));
    }
  }
  const at::Tensor& grad_norm_TD = norm_TD;  // the norm itself is not needed any more
  Linear(weights_.qkv_ED).InputGradient({grad_qkv_TE}, grad_norm_TD);
  grad_qkv_TE.reset();
  const at::Tensor grad_weight_D = at::empty(weights_.input_norm_D.sizes(), context.control);
  ops::RmsNormBackward({.x_TD = x1_TD,
                        .weight_D = weights_.input_norm_D,
                        .epsilon = context.shape.norm_epsilon,
                        .grad_out_TD = grad_norm_TD,
                        .grad_x_TD = grad_TD,
                        .grad_weight_D = grad_weight_D});
  sink.Add(ParameterList::InBlock(layer_, kInputNorm), grad_weight_D);
}

}  // namespace agoq
