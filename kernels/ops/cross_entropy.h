// Loss of a chunk of logits, and its gradient in place.
// Shapes: T tokens, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace agoq {

enum class CrossEntropyMode : std::uint8_t { kLoss, kLossAndGradient };

}  // namespace agoq

namespace agoq::ops {

struct CrossEntropyArgs {
  at::Tensor logits_TV;
  at::Tensor targets_T;
  std::int64_t ignore_index = -100;
  double scale = 1.0;
  CrossEntropyMode mode = CrossEntropyMode::kLoss;
};

double CrossEntropy(const CrossEntropyArgs& args);

}  // namespace agoq::ops
