#include "kernels/ops/packed_tensor.h"

#include <functional>
#include <numeric>

namespace agoq {

std::int64_t PackedTensor::num_elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t PackedTensor::bytes() const {
  if (!defined()) return 0;
  return codes.numel() + scales.numel() * static_cast<std::int64_t>(sizeof(float));
}

QuantizedView PackedTensor::view() const {
  return {.codes = codes.data_ptr<std::uint8_t>(),
          .scales = scales.data_ptr<float>(),
          .spec = spec,
          .num_elements = num_elements()};
}

}  // namespace agoq
