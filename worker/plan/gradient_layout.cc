#include "worker/plan/gradient_layout.h"

#include <utility>

namespace agoq {

GradientLayout LayOutGradients(const ParameterList& list, const std::optional<QuantSpec>& spec) {
  GradientLayout layout;
  for (const ParameterInfo& parameter : list.parameters) {
    const std::int64_t size = parameter.num_elements();
    if (KeepsExactGradient(parameter)) {
      layout.places.push_back({GradientPart::kSmall, layout.small_elements});
      layout.small_elements += size;
      continue;
    }
    if (!spec.has_value()) {
      layout.places.push_back({GradientPart::kLarge, layout.large_elements});
      layout.large_elements += size;
      continue;
    }
    layout.places.push_back({GradientPart::kQuantized, layout.quantized_elements});
    layout.quantized_elements += NumBlocks(*spec, size) * spec->block;
  }
  return layout;
}

}  // namespace agoq
