// A transformer block's allocations, as worker/model makes them. Pure.
#pragma once

#include <cstdint>

#include "worker/plan/attention_workspace.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"
#include "worker/plan/simulated_memory.h"

namespace agoq {

class SimulatedBlock {
 public:
  using Tensor = SimulatedMemory::Tensor;

  struct Dims {
    const ModelShape& model;
    ComputeType compute;
    std::int64_t tokens;
    AttentionWorkspaceShape attention;
    bool samples_errors;
  };

  // Borrows all three.
  SimulatedBlock(SimulatedMemory& memory, const Dims& dims, const LayerPlan& plan)
      : memory_(memory), dims_(dims), plan_(plan) {}

  // Input -> output.
  Tensor Forward(Tensor x);
  // With the gradient of the output held by the caller, who gets that of the input in the same
  // memory.
  void Backward();

 private:
  std::int64_t Bytes(std::int64_t elements) const { return elements * BytesOf(dims_.compute); }
  std::int64_t ControlBytes(std::int64_t elements) const;
  std::int64_t Elements(Site site) const;
  Tensor Make(std::int64_t elements) { return memory_.Allocate(Bytes(elements)); }

  Tensor Save(const Tensor& x, Site site, const LayerPlan& plan);
  Tensor SaveAlone(Site site, const LayerPlan& plan);
  Tensor Pack(Site site, const LayerPlan& plan);
  Tensor Take(Tensor& saved, Site site);
  Tensor AttentionForward(Tensor x1, const LayerPlan& plan);
  void SaveInputs(const Tensor& qkv, const LayerPlan& plan);
  Tensor MlpForward(Tensor x2);
  void MlpBackward();
  Tensor TakeGateUp(Tensor& x2, Tensor& norm);
  void AttentionBackward();
  Tensor ProjectionGradient(Tensor& x1, Tensor& norm);
  Tensor TakeInput(Tensor& saved, Site site, Tensor& x1, Tensor& norm);

  SimulatedMemory& memory_;
  const Dims& dims_;
  const LayerPlan& plan_;

  // What the block keeps.
  Tensor x1_, q_, k_, v_, o_, lse_, x2_, gate_up_, gate_, up_;
  bool packed_[kNumSites] = {};
};

}  // namespace agoq
