#include "worker/plan/error_model.h"

#include <algorithm>
#include <cmath>

namespace agoq {
namespace {

const ErrorTable::Column& ColumnOf(const ErrorTable& table, Format format) {
  const auto column =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [&](const ErrorTable::Column& c) { return BitsOf(c.format) <= BitsOf(format); });
  return column == table.columns.end() ? table.columns.back() : *column;
}

double LayerShare(double first_layer_share, std::int64_t layer, std::int64_t num_layers) {
  const auto layers = static_cast<double>(num_layers);
  if (num_layers == 1) return 1;
  if (first_layer_share == 0) return 1 / layers;
  return layer == 0 ? first_layer_share : (1 - first_layer_share) / (layers - 1);
}

// How the copy was kept that backward uses for `site`.
const SitePolicy& EffectivePolicy(const LayerPlan& plan, Site site) {
  const SitePolicy& policy = plan.at(site);
  if (policy.kind != PolicyKind::kRecompute) return policy;
  const bool is_of_mlp = site == Site::kGate || site == Site::kUp;
  // Of a block that runs again, x2 comes from x1, which is full.
  const bool from_x2 = is_of_mlp && plan.at(Site::kX2).kind != PolicyKind::kRecompute;
  return plan.at(from_x2 ? Site::kX2 : Site::kX1);
}

}  // namespace

ErrorTable LargeModelErrors() {
  //                     x1      q       k       v       o       x2      gate    up
  return {.columns = {{Format::kInt8, {.0057, .0140, .0183, .0070, .0068, .0048, .0060, .0055}},
                      {Format::kNf4, {.0489, .2731, .3967, .0777, .0731, .0269, .0497, .0442}}},
          .first_layer_shares = {.54, 0, 0, .04, 0, .40, .42, .42}};
}

ErrorTable SmallModelErrors() {
  return {.columns = {{Format::kInt8, {.0027, .0088, .0096, .0041, .0034, .0013, .0019, .0015}},
                      {Format::kNf4, {.0420, .1710, .1778, .0728, .0736, .0213, .0291, .0263}}},
          .first_layer_shares = {.64, .13, .12, .27, .34, .57, .62, .63}};
}

ErrorTable DefaultErrorTable(const ModelShape& model) {
  constexpr std::int64_t kBetween = 314;  // the geometric mean of the hidden sizes, 128 and 768
  return model.hidden_size < kBetween ? SmallModelErrors() : LargeModelErrors();
}

double SquaredError(const ErrorTable& table, const LayerPlan& plan, std::int64_t layer,
                    std::int64_t num_layers) {
  double sum = 0;
  for (const Site site : kAllSites) {
    const SitePolicy& policy = EffectivePolicy(plan, site);
    if (policy.kind != PolicyKind::kPacked) continue;
    const auto index = static_cast<std::size_t>(site);
    const double error = ColumnOf(table, policy.spec.format).errors[index];
    sum += error * error * LayerShare(table.first_layer_shares[index], layer, num_layers);
  }
  return sum;
}

double PredictError(const ErrorTable& table, std::span<const LayerPlan> layers) {
  double sum = 0;
  const auto num_layers = static_cast<std::int64_t>(layers.size());
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    sum += SquaredError(table, layers[static_cast<std::size_t>(layer)], layer, num_layers);
  }
  return std::sqrt(sum);
}

}  // namespace agoq
