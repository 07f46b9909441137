#include "worker/trainer/result_file.h"

#include <cmath>
#include <iomanip>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "proto/common/text_table.h"
#include "worker/data/durable_file.h"

namespace agoq {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t TotalOf(const std::vector<LabelBytes>& labels) {
  std::int64_t total = 0;
  for (const LabelBytes& label : labels) total += label.bytes;
  return total;
}

Json ByLabel(const std::vector<LabelBytes>& labels) {
  Json json = Json::object();
  for (const LabelBytes& label : labels) json[label.label] = label.bytes;
  json["total"] = TotalOf(labels);
  return json;
}

// JSON has no number that is not finite.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (double value : values) json.push_back(Number(value));
  return json;
}

Json MemoryOfRanks(const std::vector<RankMemory>& ranks) {
  Json json = Json::array();
  for (const RankMemory& rank : ranks) {
    json.push_back({{"peak_bytes", rank.peak_bytes},
                    {"predicted_bytes", rank.predicted_bytes},
                    {"uncounted_bytes", rank.uncounted_bytes}});
  }
  return json;
}

Json ErrorsBySite(const std::vector<SiteError>& errors) {
  Json json = Json::object();
  for (const SiteError& error : errors) {
    json[error.site] = {{"ratio", Number(error.ratio)},
                        {"worst_layer", error.worst_layer},
                        {"worst_ratio", Number(error.worst_ratio)}};
  }
  return json;
}

Json ValidationOf(const TrainReport& report) {
  if (!report.validation) return nullptr;
  return {{"loss", Number(report.validation->loss)}, {"tokens", report.validation->tokens}};
}

}  // namespace

std::string ResultJson(const TrainOptions& options, const TrainReport& report) {
  Json json;
  json["job"] = options.job_name;
  json["ranks"] = options.plan.ranks.size();
  json["first_step"] = report.first_step;
  json["steps"] = report.steps;
  json["skipped_steps"] = report.skipped_steps;
  json["stopped"] = report.stopped;
  json["num_parameters"] = report.num_parameters;
  json["seconds"] = report.seconds;
  json["tokens_per_second"] = Number(report.tokens_per_second);
  json["losses"] = Numbers(report.losses);
  json["final_loss"] = report.losses.empty() ? Json(nullptr) : Number(report.losses.back());
  json["validation"] = ValidationOf(report);
  json["peak_bytes"] = ByLabel(report.peak_by_label);
  json["predicted_bytes"] = ByLabel(report.predicted_by_label);
  json["rank_memory"] = MemoryOfRanks(report.ranks);
  json["errors"] = ErrorsBySite(report.errors);
  json["checkpoint"] = report.checkpoint.empty() ? Json(nullptr) : Json(report.checkpoint);
  json["bytes_sent"] = report.bytes_sent;
  return json.dump(2) + "\n";
}

void WriteResultFile(const std::string& path, const std::string& json) {
  DurableFile file(path);
  file.Append(std::as_bytes(std::span(json)));
  file.Commit();
}

std::string SummaryText(const TrainReport& report) {
  std::ostringstream out;
  out << std::fixed;
  out << (report.stopped ? "stopped after step " : "done: step ") << report.steps;
  if (report.skipped_steps > 0) out << " (" << report.skipped_steps << " changed nothing)";
  if (!report.losses.empty()) out << ", loss " << std::setprecision(4) << report.losses.back();
  out << ", " << std::setprecision(0) << report.tokens_per_second << " tokens/s over "
      << std::setprecision(1) << report.seconds << " s\n";
  if (report.validation) {
    out << "held-out loss: " << std::setprecision(4) << report.validation->loss
        << " nats per token over " << report.validation->tokens << " tokens\n";
  }
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const RankMemory& memory = report.ranks[rank];
    out << "memory of rank " << rank << ": peak " << BytesText(memory.peak_bytes) << ", predicted "
        << BytesText(memory.predicted_bytes) << ", outside of the count "
        << BytesText(memory.uncounted_bytes) << "\n";
  }
  if (!report.peak_by_label.empty()) {
    out << "at the peak of rank 0:";
    for (const LabelBytes& label : report.peak_by_label) {
      if (label.bytes > 0) out << " " << label.label << " " << BytesText(label.bytes) << ",";
    }
    out << " all " << BytesText(TotalOf(report.peak_by_label)) << "\n";
  }
  for (const SiteError& error : report.errors) {
    out << "error of " << error.site << ": " << std::setprecision(3) << 100 * error.ratio
        << " %, worst in layer " << error.worst_layer << ": " << 100 * error.worst_ratio << " %\n";
  }
  if (!report.checkpoint.empty()) out << "checkpoint: " << report.checkpoint << "\n";
  return out.str();
}

}  // namespace agoq
