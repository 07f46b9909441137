// One transformer block: attention, then mlp. A Forward fills a SavedBlock, one Backward uses it
// up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "worker/model/attention.h"
#include "worker/model/mlp.h"

namespace agoq {

struct SavedBlock {
  SavedAttention attention;
  SavedMlp mlp;
};

class Block {
 public:
  // Borrows the weights.
  Block(const BlockWeights& weights, std::int64_t layer)
      : attention_(weights, layer), mlp_(weights, layer) {}

  at::Tensor Forward(at::Tensor x_TD, const BlockContext& context, const SaveContext& save,
                     SavedBlock& saved) const;
  // Gradient of the output -> of the input, in the same memory.
  void Backward(const at::Tensor& grad_TD, const BlockContext& context, SavedBlock& saved,
                GradientSink& sink) const;

 private:
  Attention attention_;
  Mlp mlp_;
};

}  // namespace agoq
