// What every block of a forward or backward pass is told besides its tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include "kernels/ops/rope.h"
#include "worker/model/attention_kernel.h"
#include "worker/plan/model_shape.h"

namespace agoq {

// Borrowed for the pass.
struct BlockContext {
  const ModelShape& shape;
  const RopeTable& rope;
  const at::Tensor& positions_T;
  AttentionDims dims;
  at::ScalarType compute;
  at::ScalarType control;

  std::int64_t num_tokens() const { return dims.batch * dims.sequence; }
};

}  // namespace agoq
