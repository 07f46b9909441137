#include "proto/common/plan_table.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace agoq {
namespace {

using Row = std::vector<std::string>;

// "4.25": the fewest digits up to three decimals.
std::string BitsText(double bits) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f", bits);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string CellOf(const SitePolicy& policy, ComputeType compute) {
  if (policy.kind == PolicyKind::kRecompute) return "recompute";
  if (policy.kind == PolicyKind::kFull) {
    return "full " + std::to_string(8 * BytesOf(compute));
  }
  const double scale_bits = 32.0 / static_cast<double>(policy.spec.block);
  return std::string(NameOf(policy.spec.format)) + "/" + std::to_string(policy.spec.block) + " " +
         BitsText(BitsOf(policy.spec.format) + scale_bits);
}

std::int64_t LayerBytes(const PlanTableOptions& options, std::size_t layer) {
  std::int64_t bytes = 0;
  for (std::int64_t site_bytes : options.layer_bytes[layer]) bytes += site_bytes;
  return bytes;
}

bool IsSameRow(const RankPlan& rank, const PlanTableOptions& options, std::size_t a,
               std::size_t b) {
  const bool same_bytes =
      options.layer_bytes.empty() || options.layer_bytes[a] == options.layer_bytes[b];
  return same_bytes && rank.layers[a].sites == rank.layers[b].sites &&
         rank.layers[a].reason == rank.layers[b].reason;
}

std::vector<Row> RowsOf(const RankPlan& rank, const PlanTableOptions& options) {
  Row header = {"layer"};
  for (Site site : kAllSites) header.emplace_back(NameOf(site));
  if (!options.layer_bytes.empty()) header.push_back("bytes");
  header.push_back("reason");
  std::vector<Row> rows = {header};
  for (std::size_t first = 0, last = 0; first < rank.layers.size(); first = last + 1) {
    last = first;
    while (last + 1 < rank.layers.size() && IsSameRow(rank, options, first, last + 1)) ++last;
    Row row = {first == last ? std::to_string(first)
                             : std::to_string(first) + "-" + std::to_string(last)};
    for (Site site : kAllSites) {
      row.push_back(CellOf(rank.layers[first].at(site), options.compute));
    }
    if (!options.layer_bytes.empty()) row.push_back(std::to_string(LayerBytes(options, first)));
    row.push_back(rank.layers[first].reason);
    rows.push_back(row);
  }
  return rows;
}

std::string Aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
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

std::string PlanTable(const BitPlan& plan, const PlanTableOptions& options) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < plan.ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < plan.ranks.size() && IsSameTable(plan.ranks[first], plan.ranks[last + 1])) {
      ++last;
    }
    text += TitleOf(plan.ranks[first], plan.ranks[last].rank);
    text += Aligned(RowsOf(plan.ranks[first], options));
  }
  return text;
}

}  // namespace agoq
