// Adds a gradient to its packed store; see kernels/ops/gradient_accumulate.h for the contract.
#pragma once

#include <cstdint>

#include "kernels/ref/block_view.h"
#include "kernels/ref/gradient_mode.h"
#include "kernels/ref/loop_variant.h"
#include "kernels/ref/non_finite.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct AccumulateBlocksArgs {
  QuantizedView store;
  RowsView gradient;  // as many elements as the store
  GradientMode mode = GradientMode::kWrite;
  std::int32_t tensor_id = -1;
  LoopVariant variant = BestVariant();
};

// The blocks of `range`; returns what is not finite in their new values.
NonFinite AccumulateBlocks(const AccumulateBlocksArgs& args, BlockRange range);

}  // namespace agoq::ref
