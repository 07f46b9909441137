#include "client/plan_text.h"

#include <cstddef>

#include "client/rank_text.h"
#include "client/values_text.h"
#include "proto/common/plan_codec.h"
#include "proto/common/plan_table.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

LayerSiteBytes LayerBytesOf(const v1::PlannedRank& rank, std::size_t num_layers) {
  LayerSiteBytes bytes(num_layers);
  if (static_cast<std::size_t>(rank.layer_site_bytes_size()) != num_layers * kNumSites) return {};
  for (std::size_t i = 0; i < num_layers * kNumSites; ++i) {
    bytes[i / kNumSites][i % kNumSites] = rank.layer_site_bytes(static_cast<int>(i));
  }
  return bytes;
}

std::string ShareOf(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "";
  return " (" + PercentText(static_cast<double>(part) / static_cast<double>(whole)) + ")";
}

std::string TitleOf(const v1::PlannedRank& rank, const RankPlan& plan) {
  const std::int64_t peak =
      plan.predicted_peak_bytes > 0 ? plan.predicted_peak_bytes : SumOf(rank.predicted());
  std::string title = "rank " + std::to_string(rank.rank()) + " on worker " + rank.worker() + ": ";
  if (rank.budget_bytes() > 0) title += "budget " + BytesText(rank.budget_bytes()) + ", ";
  title += "predicted peak " + BytesText(peak) + ShareOf(peak, rank.budget_bytes());
  title += ", error " + PercentText(rank.predicted_error());
  return title + ", slow-down " + PercentText(rank.predicted_slowdown()) + "\n";
}

std::string RankPart(const v1::PlannedRank& rank, const RankPlan& plan, ComputeType compute) {
  std::string text = TitleOf(rank, plan);
  if (!rank.predicted().empty()) text += "at the peak: " + LabelsText(rank.predicted()) + "\n";
  return text + RankTable(plan, {.compute = compute,
                                 .layer_bytes = LayerBytesOf(rank, plan.layers.size())});
}

}  // namespace

std::string PlanText(const v1::PlanJobResponse& response, ComputeType compute) {
  const DecodedPlan decoded = DecodePlan(response.plan());
  std::string text;
  for (const v1::PlannedRank& rank : response.ranks()) {
    for (const RankPlan& plan : decoded.plan.ranks) {
      if (plan.rank != rank.rank()) continue;
      text += (text.empty() ? "" : "\n") + RankPart(rank, plan, compute);
    }
  }
  return text;
}

}  // namespace agoq
