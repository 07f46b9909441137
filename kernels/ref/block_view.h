// One block of packed storage, and ranges of blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/quant_spec.h"
#include "kernels/ref/quantized_view.h"

namespace agoq::ref {

struct BlockRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct BlockView {
  std::uint8_t* codes = nullptr;
  float* scale = nullptr;
  std::int64_t first = 0;         // row-major index of the first element
  std::int64_t num_elements = 0;  // fewer than spec.block in a short last block
};

inline BlockView BlockOf(const QuantizedView& view, std::int64_t index) {
  const std::int64_t first = index * view.spec.block;
  return {.codes = view.codes + CodeBytes(view.spec, first),
          .scale = view.scales + index,
          .first = first,
          .num_elements = std::min(view.spec.block, view.num_elements - first)};
}

}  // namespace agoq::ref
