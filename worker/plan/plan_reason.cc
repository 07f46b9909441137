#include "worker/plan/plan_reason.h"

#include <cstdio>
#include <map>
#include <string>

namespace agoq {
namespace {

std::string HowKept(const SitePolicy& policy) {
  if (policy.kind == PolicyKind::kFull) return "full";
  if (policy.kind == PolicyKind::kRecompute) return "recomputed";
  return std::to_string(BitsOf(policy.spec.format)) + " bits";
}

std::string SitesByPolicy(const LayerPlan& layer) {
  if (layer.recomputes_block()) return "block runs again in backward";
  std::map<std::string, std::string> sites;
  for (const Site site : kAllSites) {
    sites[HowKept(layer.at(site))].append(" ").append(NameOf(site));
  }
  std::string text;
  for (const auto& [how, names] : sites) {
    text.append(text.empty() ? "" : ", ").append(how).append(":").append(names);
  }
  return text;
}

}  // namespace

void GiveReasons(const ErrorTable& errors, std::vector<LayerPlan>* layers) {
  const double whole = PredictError(errors, *layers);
  const auto num_layers = static_cast<std::int64_t>(layers->size());
  for (std::int64_t i = 0; i < num_layers; ++i) {
    LayerPlan& layer = (*layers)[static_cast<std::size_t>(i)];
    const double squared = SquaredError(errors, layer, i, num_layers);
    char share[64];
    std::snprintf(share, sizeof(share), "; brings %.0f %% of the squared error",
                  whole > 0 ? 100 * squared / (whole * whole) : 0.0);
    layer.reason = "auto: " + SitesByPolicy(layer) + share;
  }
}

}  // namespace agoq
