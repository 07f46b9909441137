#include "worker/train/quant_error.h"

#include <cmath>
#include <string>

namespace agoq {
namespace {

double Ratio(const SiteErrorSums& sums) {
  return sums.squared_signal > 0 ? std::sqrt(sums.squared_error / sums.squared_signal) : 0;
}

}  // namespace

std::vector<SiteError> SiteErrors(const std::vector<LayerErrorSums>& layers) {
  std::vector<SiteError> errors;
  for (const Site site : kAllSites) {
    SiteError error = {.site = std::string(NameOf(site))};
    SiteErrorSums all;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      const SiteErrorSums& sums = layers[layer][static_cast<std::size_t>(site)];
      all.squared_error += sums.squared_error;
      all.squared_signal += sums.squared_signal;
      if (Ratio(sums) <= error.worst_ratio) continue;
      error.worst_ratio = Ratio(sums);
      error.worst_layer = static_cast<std::int64_t>(layer);
    }
    if (all.squared_signal == 0) continue;
    error.ratio = Ratio(all);
    errors.push_back(error);
  }
  return errors;
}

}  // namespace agoq
