// Borrowed packed storage.
#pragma once

#include <cstdint>

#include "kernels/quant_spec.h"

namespace agoq {

// CodeBytes(spec, num_elements) bytes of codes and NumBlocks(spec, num_elements) scales. The owner
// outlives the view.
struct QuantizedView {
  std::uint8_t* codes = nullptr;
  float* scales = nullptr;
  QuantSpec spec;
  std::int64_t num_elements = 0;
};

}  // namespace agoq
