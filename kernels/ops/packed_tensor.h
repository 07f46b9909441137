// A tensor stored in few bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "kernels/quant_spec.h"
#include "kernels/ref/quantized_view.h"

namespace agoq {

// Owns its storage, shared by copies as with tensors.
struct PackedTensor {
  at::Tensor codes;   // uint8, 1-D, CodeBytes(spec, number of elements)
  at::Tensor scales;  // fp32, 1-D, one a block
  QuantSpec spec;
  std::vector<std::int64_t> sizes;  // of the tensor that was stored

  bool defined() const { return codes.defined(); }
  std::int64_t num_elements() const;
  // Of codes and scales; 0 if undefined.
  std::int64_t bytes() const;
  // Valid as long as the storage.
  QuantizedView view() const;
};

}  // namespace agoq
