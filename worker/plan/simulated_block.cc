#include "worker/plan/simulated_block.h"

#include <algorithm>
#include <utility>

namespace agoq {

std::int64_t SimulatedBlock::ControlBytes(std::int64_t elements) const {
  return elements * (dims_.compute == ComputeType::kFloat64 ? 8 : 4);
}

std::int64_t SimulatedBlock::Elements(Site site) const {
  const ModelShape& model = dims_.model;
  switch (site) {
    case Site::kX1:
    case Site::kX2:
      return dims_.tokens * model.hidden_size;
    case Site::kQ:
    case Site::kO:
      return dims_.tokens * model.query_size();
    case Site::kK:
    case Site::kV:
      return dims_.tokens * model.kv_size();
    case Site::kGate:
    case Site::kUp:
      return dims_.tokens * model.ffn_size;
  }
  return 0;
}

SimulatedBlock::Tensor SimulatedBlock::Pack(Site site, const LayerPlan& plan) {
  const QuantSpec& spec = plan.at(site).spec;
  const std::int64_t elements = Elements(site);
  Tensor packed = memory_.Allocate(PackedBytes(spec, elements), LabelOf(site));
  packed_[static_cast<int>(site)] = true;
  if (dims_.samples_errors) {
    memory_.Touch(ControlBytes(std::min(spec.block, dims_.tokens) * (elements / dims_.tokens)));
  }
  return packed;
}

SimulatedBlock::Tensor SimulatedBlock::Save(const Tensor& x, Site site, const LayerPlan& plan) {
  packed_[static_cast<int>(site)] = false;
  if (plan.at(site).kind == PolicyKind::kRecompute) return nullptr;
  if (plan.at(site).kind == PolicyKind::kPacked) return Pack(site, plan);
  memory_.Relabel(x, {{LabelOf(site), Bytes(Elements(site))}});
  return x;
}

// A part of a joint tensor: when full it is a copy.
SimulatedBlock::Tensor SimulatedBlock::SaveAlone(Site site, const LayerPlan& plan) {
  if (plan.at(site).kind == PolicyKind::kRecompute) return nullptr;
  if (plan.at(site).kind == PolicyKind::kPacked) return Pack(site, plan);
  packed_[static_cast<int>(site)] = false;
  return memory_.Allocate(Bytes(Elements(site)), LabelOf(site));
}

SimulatedBlock::Tensor SimulatedBlock::Take(Tensor& saved, Site site) {
  if (!packed_[static_cast<int>(site)]) return std::exchange(saved, nullptr);
  Tensor out = Make(Elements(site));
  saved = nullptr;
  return out;
}

SimulatedBlock::Tensor SimulatedBlock::Forward(Tensor x) {
  // Two statements: an argument lives to the end of its own.
  Tensor x2 = AttentionForward(std::move(x), plan_);
  return MlpForward(std::move(x2));
}

void SimulatedBlock::SaveInputs(const Tensor& qkv, const LayerPlan& plan) {
  const auto is_full = [&](Site site) { return plan.at(site).kind == PolicyKind::kFull; };
  if (!is_full(Site::kQ) || !is_full(Site::kK) || !is_full(Site::kV)) {
    q_ = SaveAlone(Site::kQ, plan);
    k_ = SaveAlone(Site::kK, plan);
    v_ = SaveAlone(Site::kV, plan);
    return;
  }
  q_ = k_ = v_ = qkv;
  for (const Site site : {Site::kQ, Site::kK, Site::kV}) packed_[static_cast<int>(site)] = false;
  memory_.Relabel(qkv, {{MemoryLabel::kQ, Bytes(Elements(Site::kQ))},
                        {MemoryLabel::kK, Bytes(Elements(Site::kK))},
                        {MemoryLabel::kV, Bytes(Elements(Site::kV))}});
}

SimulatedBlock::Tensor SimulatedBlock::AttentionForward(Tensor x1, const LayerPlan& plan) {
  x1_ = Save(x1, Site::kX1, plan);
  Tensor qkv = Make(dims_.tokens * dims_.model.qkv_size());
  memory_.Touch(Bytes(Elements(Site::kX1)));  // the norm
  SaveInputs(qkv, plan);
  const Tensor o = Make(Elements(Site::kO));
  const std::int64_t lse_bytes = ControlBytes(dims_.tokens * dims_.model.num_heads);
  const Tensor lse = memory_.Allocate(lse_bytes);
  memory_.Touch(AttentionForwardBytes(dims_.attention));
  qkv = nullptr;
  if (plan.at(Site::kO).kind != PolicyKind::kRecompute) {
    o_ = Save(o, Site::kO, plan);
    lse_ = lse;
    memory_.Relabel(lse, {{MemoryLabel::kO, lse_bytes}});
  }
  return Make(Elements(Site::kX2));
}

SimulatedBlock::Tensor SimulatedBlock::MlpForward(Tensor x2) {
  x2_ = Save(x2, Site::kX2, plan_);
  Tensor gate_up = Make(2 * Elements(Site::kGate));
  memory_.Touch(Bytes(Elements(Site::kX2)));  // the norm
  if (plan_.at(Site::kGate).kind == PolicyKind::kFull &&
      plan_.at(Site::kUp).kind == PolicyKind::kFull) {
    gate_up_ = gate_up;
    const std::int64_t half = Bytes(Elements(Site::kGate));
    memory_.Relabel(gate_up, {{MemoryLabel::kGate, half}, {MemoryLabel::kUp, half}});
  } else {
    gate_ = SaveAlone(Site::kGate, plan_);
    up_ = SaveAlone(Site::kUp, plan_);
  }
  const Tensor product = Make(Elements(Site::kGate));
  gate_up = nullptr;
  return Make(Elements(Site::kX1));
}

void SimulatedBlock::Backward() {
  if (o_ == nullptr) {
    LayerPlan replay = FullLayer();
    Tensor x1 = std::exchange(x1_, nullptr);
    const Tensor x2 = AttentionForward(std::move(x1), replay);
    x2_ = Save(x2, Site::kX2, replay);
  }
  MlpBackward();
  AttentionBackward();
}

SimulatedBlock::Tensor SimulatedBlock::TakeGateUp(Tensor& x2, Tensor& norm) {
  if (gate_up_ != nullptr) return std::exchange(gate_up_, nullptr);
  Tensor gate_up = Make(2 * Elements(Site::kGate));
  if (gate_ == nullptr || up_ == nullptr) {
    x2 = Take(x2_, Site::kX2);
    norm = Make(Elements(Site::kX2));
  }
  gate_ = nullptr;
  up_ = nullptr;
  return gate_up;
}

void SimulatedBlock::MlpBackward() {
  const ModelShape& model = dims_.model;
  Tensor x2;
  Tensor norm;
  Tensor gate_up = TakeGateUp(x2, norm);
  {
    const Tensor product = Make(Elements(Site::kGate));
    memory_.Touch(Bytes(model.hidden_size * model.ffn_size));
  }
  if (x2 == nullptr) {
    x2 = Take(x2_, Site::kX2);
    norm = Make(Elements(Site::kX2));
  }
  memory_.Touch(Bytes(2 * model.ffn_size * model.hidden_size));
  gate_up = nullptr;
  memory_.Touch(ControlBytes(model.hidden_size));
}

SimulatedBlock::Tensor SimulatedBlock::TakeInput(Tensor& saved, Site site, Tensor& x1,
                                                 Tensor& norm) {
  if (saved != nullptr) return Take(saved, site);
  if (norm == nullptr) {
    x1 = Take(x1_, Site::kX1);
    norm = Make(Elements(Site::kX1));
  }
  return Make(Elements(site));
}

SimulatedBlock::Tensor SimulatedBlock::ProjectionGradient(Tensor& x1, Tensor& norm) {
  const ModelShape& model = dims_.model;
  Tensor o = Take(o_, Site::kO);
  Tensor lse = std::exchange(lse_, nullptr);
  memory_.Touch(Bytes(model.hidden_size * model.query_size()));
  Tensor grad_o = Make(Elements(Site::kO));
  Tensor q = TakeInput(q_, Site::kQ, x1, norm);
  Tensor k = TakeInput(k_, Site::kK, x1, norm);
  Tensor v = TakeInput(v_, Site::kV, x1, norm);
  const Tensor grads = Make(Elements(Site::kQ) + 2 * Elements(Site::kK));
  memory_.Touch(AttentionBackwardBytes(dims_.attention));
  grad_o = q = k = v = o = lse = nullptr;
  return Make(dims_.tokens * model.qkv_size());
}

void SimulatedBlock::AttentionBackward() {
  const ModelShape& model = dims_.model;
  Tensor x1;
  Tensor norm;
  Tensor grad_qkv = ProjectionGradient(x1, norm);
  if (x1 == nullptr) {
    x1 = Take(x1_, Site::kX1);
    norm = Make(Elements(Site::kX1));
  }
  memory_.Touch(Bytes(model.qkv_size() * model.hidden_size));
  grad_qkv = nullptr;
  memory_.Touch(ControlBytes(model.hidden_size));
}

}  // namespace agoq
