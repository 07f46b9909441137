#include "client/rank_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "client/values_text.h"
#include "proto/common/plan_table.h"
#include "proto/common/text_table.h"
#include "worker/plan/memory_label.h"

namespace agoq {
namespace {

std::int64_t BytesOfLabel(const LabelBytesList& labels, const std::string& name) {
  std::int64_t bytes = 0;
  for (const v1::LabelBytes& label : labels) bytes += label.label() == name ? label.bytes() : 0;
  return bytes;
}

std::string ErrorCell(const v1::RankResult& result, const std::string& site) {
  for (const v1::SiteError& error : result.errors()) {
    if (error.site() != site) continue;
    return PercentText(error.ratio()) + " (layer " + std::to_string(error.worst_layer()) + ": " +
           PercentText(error.worst_ratio()) + ")";
  }
  return "-";
}

TableRow LabelRow(const RankFigures& figures, MemoryLabel label) {
  const std::string name(NameOf(label));
  const std::optional<Site> site = SiteFromName(name);
  TableRow row = {name};
  row.push_back(
      site && figures.plan != nullptr ? BitsByLayers(*figures.plan, *site, figures.compute) : "-");
  if (figures.result == nullptr) return row;
  row.push_back(BytesText(BytesOfLabel(figures.result->predicted(), name)));
  row.push_back(BytesText(BytesOfLabel(figures.result->peak(), name)));
  row.push_back(site ? ErrorCell(*figures.result, name) : "-");
  return row;
}

// Measured against predicted, like "-0.41%".
std::string DifferenceText(std::int64_t predicted, std::int64_t measured) {
  if (predicted == 0) return "-";
  const double ratio = static_cast<double>(measured - predicted) / static_cast<double>(predicted);
  return (ratio > 0 ? "+" : "") + PercentText(ratio);
}

}  // namespace

ComputeType ComputeOf(const v1::JobSpec& spec) {
  switch (spec.precision().compute()) {
    case v1::PrecisionSpec::COMPUTE_BFLOAT16:
      return ComputeType::kBFloat16;
    case v1::PrecisionSpec::COMPUTE_FLOAT64:
      return ComputeType::kFloat64;
    default:
      return ComputeType::kFloat32;
  }
}

std::string BitsByLayers(const RankPlan& rank, Site site, ComputeType compute) {
  const auto bits = [&](std::size_t layer) {
    const SitePolicy& policy = rank.layers[layer].at(site);
    return policy.kind == PolicyKind::kRecompute ? "recompute" : BitsText(policy, compute);
  };
  std::string text;
  const std::size_t num_layers = rank.layers.size();
  for (std::size_t first = 0, last = 0; first < num_layers; first = last + 1) {
    last = first;
    while (last + 1 < num_layers && bits(last + 1) == bits(first)) ++last;
    if (first == 0 && last + 1 == num_layers) return bits(0);
    text += (first == 0 ? "" : ", ") + bits(first) + " (" + LayersText(first, last) + ")";
  }
  return text.empty() ? "-" : text;
}

std::string LabelsText(const LabelBytesList& labels) {
  std::vector<v1::LabelBytes> sorted(labels.begin(), labels.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const v1::LabelBytes& a, const v1::LabelBytes& b) { return a.bytes() > b.bytes(); });
  std::string text;
  for (const v1::LabelBytes& label : sorted) {
    if (label.bytes() == 0) continue;
    text += (text.empty() ? "" : ", ") + label.label() + " " + BytesText(label.bytes());
  }
  return text;
}

std::int64_t SumOf(const LabelBytesList& labels) {
  std::int64_t sum = 0;
  for (const v1::LabelBytes& label : labels) sum += label.bytes();
  return sum;
}

std::string RankLabelTable(const RankFigures& figures) {
  std::vector<TableRow> rows = {{"", "bits"}};
  if (figures.result != nullptr) {
    rows[0].insert(rows[0].end(), {"predicted", "measured", "error (worst layer)"});
  }
  for (int i = 0; i < kNumMemoryLabels; ++i) {
    const auto label = static_cast<MemoryLabel>(i);
    if (figures.result == nullptr && !SiteFromName(NameOf(label))) continue;
    rows.push_back(LabelRow(figures, label));
  }
  if (figures.result != nullptr) {
    const std::int64_t predicted = SumOf(figures.result->predicted());
    const std::int64_t measured = SumOf(figures.result->peak());
    rows.push_back({"peak", "", BytesText(predicted), BytesText(measured),
                    DifferenceText(predicted, measured) + " measured"});
  }
  return AlignedText(rows);
}

}  // namespace agoq
