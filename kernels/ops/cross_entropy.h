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
  at::Tensor logits_TV;  // fp32, bf16 (computed in fp32, rounded once) or fp64; V is at least 1
  at::Tensor targets_T;  // int64, contiguous: the class of the same row, shifted by the caller
  std::int64_t ignore_index = -100;  // rows of this target count nothing
  double scale = 1.0;                // of the gradient alone, as in 1 / tokens of the global batch
  CrossEntropyMode mode = CrossEntropyMode::kLoss;
};

// The sum, not the mean, over the rows that are not ignored of
//   log(sum of exp(logits)) - logits[target],
// added in double in row order, so that it does not depend on the number of threads. NaN
// propagates.
//
// kLossAndGradient overwrites each row of logits with scale * (softmax(logits) - one at the
// target), with zeros where it is ignored; kLoss leaves them. Logits may be strided from row to
// row. No ATen allocation.
//
// Throws std::invalid_argument for another type, size or layout and for a scale that is not
// finite, and std::out_of_range, with position, target and limit, for a target that is neither a
// class nor ignore_index; before anything is written.
double CrossEntropy(const CrossEntropyArgs& args);

}  // namespace agoq::ops
