// Where each parameter's gradient lies in a rank's store. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/quant_spec.h"
#include "worker/plan/parameter_list.h"

namespace agoq {

enum class GradientPart : std::uint8_t {
  kQuantized,  // packed, each tensor from a block of its own on
  kLarge,      // control store: the type of the store, reduced in buckets
  kSmall,      // exact in any store
};

struct GradientPlace {
  GradientPart part = GradientPart::kSmall;
  std::int64_t offset = 0;  // elements from the start of its part
};

struct GradientLayout {
  std::vector<GradientPlace> places;    // by parameter index
  std::int64_t quantized_elements = 0;  // whole blocks
  std::int64_t large_elements = 0;
  std::int64_t small_elements = 0;
};

// Without a spec the store is the control store.
GradientLayout LayOutGradients(const ParameterList& list, const std::optional<QuantSpec>& spec);

}  // namespace agoq
