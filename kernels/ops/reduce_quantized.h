// Sums the packed payloads of several ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/quant_spec.h"
#include "kernels/ref/quantized_view.h"

namespace agoq::ops {

struct ReduceQuantizedArgs {
  std::vector<QuantizedView> payloads;  // in rank order; each of `spec` and `num_elements`
  QuantSpec spec;
  std::int64_t num_elements = 0;
  double factor = 1.0;  // of the sum, rounded to fp32
  QuantizedView out;    // must not overlap a payload
};

// out = stored (factor * (payloads[0] + payloads[1] + ...)), in fp32, added in that order. A NaN
// block of any payload makes a NaN block. No ATen allocation. Throws std::invalid_argument for no
// payload, or one of another spec or size.
void ReduceQuantized(const ReduceQuantizedArgs& args);

}  // namespace agoq::ops
