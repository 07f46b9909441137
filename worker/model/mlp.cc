#include "worker/model/mlp.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "kernels/ops/rmsnorm.h"
#include "kernels/ops/swiglu.h"
#include "worker/memory/counting_allocator.h"
#include "worker/model/linear.h"

namespace agoq {
namespace {

at::Tensor Gate(const at::Tensor& gate_up_T2F) {
  return gate_up_T2F.narrow(1, 0, gate_up_T2F.size(1) / 2);
}

at::Tensor Up(const at::Tensor& gate_up_T2F) {
  const std::int64_t ffn = gate_up_T2F.size(1) / 2;
  return gate_up_T2F.narrow(1, ffn, ffn);
}

void SaveGateUp(const at::Tensor& gate_up_T2F, const SaveContext& save, SavedMlp& saved) {
  const bool together = save.plan.at(Site::kGate).kind == PolicyKind::kFull &&
                        save.plan.at(Site::kUp).kind == PolicyKind::kFull;
  if (!together) {
    saved.gate = Save(Gate(gate_up_T2F), Site::kGate, save);
    saved.up = Save(Up(gate_up_T2F), Site::kUp, save);
    return;
  }
  saved.gate_up_T2F = gate_up_T2F;
  const auto half = static_cast<std::int64_t>(gate_up_T2F.nbytes() / 2);
  Relabel(gate_up_T2F.storage(), {{MemoryLabel::kGate, half}, {MemoryLabel::kUp, half}});
}

// A site of its own into its columns of the joint memory.
void Place(SavedTensor& saved, const at::Tensor& out_TF) {
  if (saved.is_full()) {
    out_TF.copy_(saved.Take(out_TF.scalar_type()));
    return;
  }
  saved.TakeInto(out_TF);
}

}  // namespace

at::Tensor Mlp::Norm(const at::Tensor& x2_TD, const BlockContext& context) const {
  const at::Tensor norm_TD = at::empty(x2_TD.sizes(), context.compute);
  ops::RmsNorm({.x_TD = x2_TD,
                .weight_D = weights_.post_norm_D,
                .epsilon = context.shape.norm_epsilon,
                .out_TD = norm_TD});
  return norm_TD;
}

at::Tensor Mlp::Forward(at::Tensor x2_TD, const BlockContext& context, const SaveContext& save,
                        SavedMlp& saved) const {
  const std::int64_t tokens = context.num_tokens();
  saved.x2 = Save(x2_TD, Site::kX2, save);
  at::Tensor gate_up_T2F = at::empty({tokens, 2 * context.shape.ffn_size}, context.compute);
  Linear(weights_.gate_up_2FD).Forward({Norm(x2_TD, context)}, gate_up_T2F);
  SaveGateUp(gate_up_T2F, save, saved);
  const at::Tensor product_TF = at::empty({tokens, context.shape.ffn_size}, context.compute);
  ops::SwiGlu({.gate_TF = Gate(gate_up_T2F), .up_TF = Up(gate_up_T2F), .out_TF = product_TF});
  gate_up_T2F.reset();
  const at::Tensor out_TD = at::empty(x2_TD.sizes(), context.compute);
  Linear(weights_.down_DF).ForwardAdd({product_TF}, x2_TD, out_TD);
  return out_TD;
}

// The joint memory of gate and up; fills x2 and its norm where they were needed for a recomputed
// site.
at::Tensor Mlp::TakeGateUp(const BlockContext& context, SavedMlp& saved, at::Tensor& x2_TD,
                           at::Tensor& norm_TD) const {
  if (saved.gate_up_T2F.defined()) return std::exchange(saved.gate_up_T2F, at::Tensor());
  const std::int64_t ffn = context.shape.ffn_size;
  const at::Tensor gate_up_T2F = at::empty({context.num_tokens(), 2 * ffn}, context.compute);
  if (!saved.gate.kept() || !saved.up.kept()) {
    x2_TD = saved.x2.Take(context.compute);
    norm_TD = Norm(x2_TD, context);
  }
  const auto fill = [&](SavedTensor& site_saved, const at::Tensor& out_TF, std::int64_t first_row) {
    if (site_saved.kept()) return Place(site_saved, out_TF);
    Linear(weights_.gate_up_2FD.narrow(0, first_row, ffn)).Forward({norm_TD}, out_TF);
  };
  fill(saved.gate, Gate(gate_up_T2F), 0);
  fill(saved.up, Up(gate_up_T2F), ffn);
  return gate_up_T2F;
}

// Gradient of the down projection; gate and up become their own gradients.
void Mlp::DownGradient(const at::Tensor& grad_TD, const at::Tensor& gate_up_T2F,
                       const BlockContext& context, GradientSink& sink) const {
  const at::Tensor product_TF =
      at::empty({context.num_tokens(), context.shape.ffn_size}, context.compute);
  Linear(weights_.down_DF).InputGradient({grad_TD}, product_TF);
  ops::SwiGluBackward({.gate_TF = Gate(gate_up_T2F),
                       .up_TF = Up(gate_up_T2F),
                       .product_TF = product_TF,
                       .grad_gate_TF = Gate(gate_up_T2F),
                       .grad_up_TF = Up(gate_up_T2F)});
  const at::Tensor grad_weight_DF = at::empty(weights_.down_DF.sizes(), context.compute);
  Linear::WeightGradient({grad_TD}, {product_TF}, grad_weight_DF);
  sink.Add(ParameterList::InBlock(layer_, kDownProj), grad_weight_DF);
}

void Mlp::Backward(const at::Tensor& grad_TD, const BlockContext& context, SavedMlp& saved,
                   GradientSink& sink) const {
  const std::int64_t ffn = context.shape.ffn_size;
  at::Tensor x2_TD;
  at::Tensor norm_TD;
  at::Tensor grad_gate_up_T2F = TakeGateUp(context, saved, x2_TD, norm_TD);
  DownGradient(grad_TD, grad_gate_up_T2F, context, sink);
  if (!x2_TD.defined()) {
    x2_TD = saved.x2.Take(context.compute);
    norm_TD = Norm(x2_TD, context);
  }
  {
    const at::Tensor grad_weight_2FD = at::empty(weights_.gate_up_2FD.sizes(), context.compute);
    Linear::WeightGradient({grad_gate_up_T2F}, {norm_TD}, grad_weight_2FD);
    sink.Add(ParameterList::InBlock(layer_, kGateProj), grad_weight_2FD.narrow(0, 0, ffn));
    sink.Add(ParameterList::InBlock(layer_, kUpProj), grad_weight_2FD.narrow(0, ffn, ffn));
  }
  const at::Tensor& grad_norm_TD = norm_TD;  // the norm itself is not needed any more
  Linear(weights_.gate_up_2FD).InputGradient({grad_gate_up_T2F}, grad_norm_TD);
  grad_gate_up_T2F.reset();
  const at::Tensor grad_weight_D = at::empty(weights_.post_norm_D.sizes(), context.control);
  ops::RmsNormBackward({.x_TD = x2_TD,
                        .weight_D = weights_.post_norm_D,
                        .epsilon = context.shape.norm_epsilon,
                        .grad_out_TD = grad_norm_TD,
                        .grad_x_TD = grad_TD,
                        .grad_weight_D = grad_weight_D});
  sink.Add(ParameterList::InBlock(layer_, kPostNorm), grad_weight_D);
}

}  // namespace agoq
