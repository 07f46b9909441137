// AdamW over all parameters of a rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "worker/model/parameters.h"
#include "worker/train/gradient_store.h"
#include "worker/train/train_options.h"

namespace agoq {

struct OptimizerStep {
  double learning_rate = 0;
  double clip_factor = 1;   // multiplies every gradient
  std::int64_t update = 1;  // number of this update, from 1
};

// States of one parameter, in its shape and the control type.
struct OptimizerState {
  at::Tensor
      master;  // of the weight; undefined: the weight has the control type and is its own master
  at::Tensor moment1;
  at::Tensor moment2;
};

class Optimizer {
 public:
  // Borrows the parameters. Moments start at zero; call CopyMasters when the weights have their
  // first values.
  Optimizer(const Parameters& parameters, const OptimizerOptions& options);

  // master = weight.
  void CopyMasters();
  // Decay applies to matrices only.
  void Step(const GradientStore& gradients, const OptimizerStep& step);

  // By parameter index; memory of the optimizer itself.
  const std::vector<OptimizerState>& states() const { return states_; }

 private:
  const Parameters& parameters_;
  OptimizerOptions options_;
  std::vector<OptimizerState> states_;
};

}  // namespace agoq
