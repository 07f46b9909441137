// AdamW over a run of elements; see kernels/ops/adam.h for the contract.
#pragma once

#include <cstdint>

#include "kernels/ref/loop_variant.h"
#include "kernels/ref/quantized_view.h"
#include "kernels/ref/rows_view.h"

namespace agoq::ref {

struct AdamOptions {
  double learning_rate = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  double clip_factor = 1.0;
  std::int64_t step = 1;
};

// master and the moments are runs of floats, or of doubles if `is_double`.
struct AdamElementsArgs {
  void* master = nullptr;
  void* moment1 = nullptr;
  void* moment2 = nullptr;
  bool is_double = false;
  std::uint16_t* bfloat16_weight = nullptr;  // gets the new master rounded; may be null
  QuantizedView quantized_gradient;          // used if its codes are not null
  RowsView gradient;                         // fp32 or fp64
  AdamOptions options;
  LoopVariant variant = BestVariant();
};

// Elements [begin, end); begin is a multiple of kMaxBlock.
void AdamElements(const AdamElementsArgs& args, std::int64_t begin, std::int64_t end);

}  // namespace agoq::ref
