#include "worker/model/block.h"

#include <utility>

namespace agoq {
namespace {

// For a block that runs again: what attention's backward needs is kept, gate and up are made from
// x2 when their turn comes.
LayerPlan ReplayLayer() {
  LayerPlan plan = FullLayer();
  plan.at(Site::kGate).kind = PolicyKind::kRecompute;
  plan.at(Site::kUp).kind = PolicyKind::kRecompute;
  return plan;
}

}  // namespace

at::Tensor Block::Forward(at::Tensor x_TD, const BlockContext& context, const SaveContext& save,
                          SavedBlock& saved) const {
  at::Tensor x2_TD = attention_.Forward(std::move(x_TD), context, save, saved.attention);
  return mlp_.Forward(std::move(x2_TD), context, save, saved.mlp);
}

void Block::Backward(const at::Tensor& grad_TD, const BlockContext& context, SavedBlock& saved,
                     GradientSink& sink) const {
  const bool runs_again = !saved.attention.o.kept();
  if (runs_again) {
    const LayerPlan plan = ReplayLayer();
    const SaveContext keep = {.plan = plan};
    at::Tensor x1_TD = saved.attention.x1.Take(context.compute);
    const at::Tensor x2_TD = attention_.Forward(std::move(x1_TD), context, keep, saved.attention);
    saved.mlp.x2 = Save(x2_TD, Site::kX2, keep);
  }
  mlp_.Backward(grad_TD, context, saved.mlp, sink);
  attention_.Backward(grad_TD, context, saved.attention, sink);
}

}  // namespace agoq
