// Sums packed payloads; see kernels/ops/reduce_quantized.h for the contract.
#pragma once

#include <span>

#include "kernels/ref/block_view.h"
#include "kernels/ref/loop_variant.h"
#include "kernels/ref/quantized_view.h"

namespace agoq::ref {

struct ReduceBlocksArgs {
  std::span<const QuantizedView> payloads;  // in rank order, at least one
  float factor = 1.0f;
  QuantizedView out;
  LoopVariant variant = BestVariant();
};

// The blocks of `range` of out.
void ReduceBlocks(const ReduceBlocksArgs& args, BlockRange range);

}  // namespace agoq::ref
