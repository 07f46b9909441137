#include "proto/common/plan_table.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "proto/common/text_table.h"

namespace agoq {
namespace {

std::string CellOf(const SitePolicy& policy, ComputeType compute) {
  if (policy.kind == PolicyKind::kRecompute) return "recompute";
  if (policy.kind == PolicyKind::kFull) return "full " + BitsText(policy, compute);
  return std::string(NameOf(policy.spec.format)) + "/" + std::to_string(policy.spec.block) + " " +
         BitsText(policy, compute);
}

bool IsSameRow(const RankPlan& rank, const PlanTableOptions& options, std::size_t a,
               std::size_t b) {
  const bool same_bytes =
      options.layer_bytes.empty() || options.layer_bytes[a] == options.layer_bytes[b];
  return same_bytes && rank.layers[a].sites == rank.layers[b].sites;
}

// Runs of layers; `is_same` compares two of them.
template <typename IsSame, typename Visit>
void ForEachRun(std::size_t num_layers, const IsSame& is_same, const Visit& visit) {
  for (std::size_t first = 0, last = 0; first < num_layers; first = last + 1) {
    last = first;
    while (last + 1 < num_layers && is_same(first, last + 1)) ++last;
    visit(first, LayersText(first, last));
  }
}

std::string ReasonLines(const RankPlan& rank) {
  std::string text;
  const auto is_same = [&](std::size_t a, std::size_t b) {
    return rank.layers[a].reason == rank.layers[b].reason;
  };
  ForEachRun(rank.layers.size(), is_same, [&](std::size_t first, const std::string& layers) {
    const std::string& reason = rank.layers[first].reason;
    if (!reason.empty()) text += "layer " + layers + ": " + reason + "\n";
  });
  return text;
}

TableRow HeaderOf(bool has_bytes) {
  TableRow header = {"layer"};
  for (Site site : kAllSites) header.emplace_back(NameOf(site));
  if (has_bytes) header.push_back("bytes");
  return header;
}

TableRow BitsRow(const LayerPlan& layer, const std::string& layers,
                 const PlanTableOptions& options) {
  TableRow row = {layers};
  for (Site site : kAllSites) row.push_back(CellOf(layer.at(site), options.compute));
  return row;
}

TableRow BytesRow(const std::array<std::int64_t, kNumSites>& bytes) {
  TableRow row = {"each"};
  for (std::int64_t site_bytes : bytes) row.push_back(BytesText(site_bytes));
  row.push_back(BytesText(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0})));
  return row;
}

std::string TitleOf(const RankPlan& rank, std::int64_t last_rank) {
  std::string title = rank.rank == last_rank
                          ? "rank " + std::to_string(rank.rank)
                          : "ranks " + std::to_string(rank.rank) + "-" + std::to_string(last_rank);
  title += ", stage " + std::to_string(rank.stage) + ", chunk " + std::to_string(rank.chunk);
  if (rank.budget_bytes > 0) title += ", budget " + std::to_string(rank.budget_bytes) + " bytes";
  if (rank.predicted_peak_bytes > 0) {
    title += ", predicted peak " + std::to_string(rank.predicted_peak_bytes) + " bytes";
  }
  return title + "\n";
}

bool IsSameTable(const RankPlan& a, const RankPlan& b) {
  return a.stage == b.stage && a.chunk == b.chunk && a.budget_bytes == b.budget_bytes &&
         a.predicted_peak_bytes == b.predicted_peak_bytes &&
         std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const LayerPlan& x, const LayerPlan& y) {
                      return x.sites == y.sites && x.reason == y.reason;
                    });
}

}  // namespace

std::string BitsText(const SitePolicy& policy, ComputeType compute) {
  if (policy.kind == PolicyKind::kRecompute) return "";
  if (policy.kind == PolicyKind::kFull) return std::to_string(8 * BytesOf(compute));
  const double scale_bits = 32.0 / static_cast<double>(policy.spec.block);
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f", BitsOf(policy.spec.format) + scale_bits);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string LayersText(std::size_t first, std::size_t last) {
  const std::string text = std::to_string(first);
  return first == last ? text : text + "-" + std::to_string(last);
}

std::string RankTable(const RankPlan& rank, const PlanTableOptions& options) {
  const bool has_bytes = !options.layer_bytes.empty();
  std::vector<TableRow> rows = {HeaderOf(has_bytes)};
  const auto is_same = [&](std::size_t a, std::size_t b) { return IsSameRow(rank, options, a, b); };
  ForEachRun(rank.layers.size(), is_same, [&](std::size_t first, const std::string& layers) {
    rows.push_back(BitsRow(rank.layers[first], layers, options));
    if (has_bytes) rows.push_back(BytesRow(options.layer_bytes[first]));
  });
  return AlignedText(rows) + ReasonLines(rank);
}

std::string PlanTable(const BitPlan& plan, const PlanTableOptions& options) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < plan.ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < plan.ranks.size() && IsSameTable(plan.ranks[first], plan.ranks[last + 1])) {
      ++last;
    }
    text += TitleOf(plan.ranks[first], plan.ranks[last].rank);
    text += RankTable(plan.ranks[first], options);
  }
  return text;
}

}  // namespace agoq
