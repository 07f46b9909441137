// A LLaMA in plain fp64 autograd: the oracle of the written-out backward. Saved copies enter the
// gradient alone: every segment is evaluated at the copies and corrected to the exact value by a
// constant, so its value is exact and its derivative is that at the copies.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

#include "worker/model/token_batch.h"
#include "worker/plan/bit_plan.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct ReferenceResult {
  double loss_sum = 0;
  std::map<std::string, torch::Tensor> gradients;  // by Hugging Face name
};

// Loss sum of the targets that count, and gradients of `scale` times it. `weights`: fp64, by
// Hugging Face name.
ReferenceResult RunReference(const ModelShape& shape,
                             const std::map<std::string, torch::Tensor>& weights,
                             const TokenBatch& batch, const std::vector<LayerPlan>& plans,
                             double scale);

}  // namespace agoq
