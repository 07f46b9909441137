#include "client/summary_text.h"

#include <algorithm>
#include <cstdint>

#include "client/progress_line.h"
#include "client/rank_text.h"
#include "client/values_text.h"
#include "proto/common/plan_codec.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

template <typename List>
const typename List::value_type* FindRank(const List& entries, std::int64_t rank) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.rank() == rank; });
  return found == entries.end() ? nullptr : &*found;
}

const RankPlan* PlanOfRank(const BitPlan& plan, std::int64_t rank) {
  const auto found = std::find_if(plan.ranks.begin(), plan.ranks.end(),
                                  [&](const RankPlan& entry) { return entry.rank == rank; });
  return found == plan.ranks.end() ? nullptr : &*found;
}

std::string TitleOf(const v1::Placement& placement, const std::vector<v1::Worker>& workers) {
  std::string title =
      "rank " + std::to_string(placement.rank()) + " on worker " + placement.worker();
  if (placement.budget_bytes() > 0) {
    title += ": budget " + BytesText(placement.budget_bytes());
  }
  for (const v1::Worker& worker : workers) {
    if (worker.name() != placement.worker() || worker.metrics_url().empty()) continue;
    title += (placement.budget_bytes() > 0 ? ", metrics " : ": metrics ") + worker.metrics_url();
  }
  return title + "\n";
}

std::string StepsText(const v1::RankResult& result, const v1::Job& job) {
  std::string text = std::to_string(result.steps());
  if (job.spec().steps().total() > 0) text += " of " + std::to_string(job.spec().steps().total());
  if (result.skipped_steps() > 0) {
    text += " (" + std::to_string(result.skipped_steps()) +
            " changed nothing: a gradient was not finite)";
  }
  return text;
}

void AppendResult(const v1::Job& job, std::vector<TableRow>* rows) {
  if (job.attempt().results().empty()) {
    if (job.status().has_progress()) {
      rows->push_back({"progress", ProgressText(job.status().progress())});
    }
    return;
  }
  const v1::RankResult& result = job.attempt().results(0);
  if (result.has_validation_loss()) {
    rows->push_back({"held-out loss", LossText(result.validation_loss()) + " nats per token, " +
                                          std::to_string(result.validation_tokens()) + " tokens"});
  }
  rows->push_back({"last loss", LossText(result.final_loss()) + " nats per token"});
  rows->push_back({"speed", RateText(result.tokens_per_second()) + " tokens/s of all ranks"});
  rows->push_back({"steps", StepsText(result, job)});
}

std::string CheckpointOf(const v1::Job& job) {
  const auto& results = job.attempt().results();
  const std::string newest = results.empty() ? "" : results.Get(0).checkpoint();
  return newest.empty() ? job.status().checkpoint() : newest;
}

}  // namespace

const v1::BitPlan& NewestPlan(const v1::Job& job) {
  return job.attempt().has_plan() ? job.attempt().plan() : job.plan();
}

std::string RankTexts(const v1::Job& job, const std::vector<v1::Worker>& workers) {
  const BitPlan plan = DecodePlan(NewestPlan(job)).plan;
  std::string text;
  for (const v1::Placement& placement : job.attempt().placements()) {
    const RankFigures figures = {.plan = PlanOfRank(plan, placement.rank()),
                                 .result = FindRank(job.attempt().results(), placement.rank()),
                                 .compute = ComputeOf(job.spec())};
    text += "\n" + TitleOf(placement, workers);
    if (figures.plan != nullptr || figures.result != nullptr) text += RankLabelTable(figures);
  }
  return text;
}

std::string SummaryText(const v1::Job& job, const std::vector<v1::Worker>& workers) {
  std::string state = StateText(job.status().state());
  if (!job.status().message().empty()) state += ": " + job.status().message();
  std::vector<TableRow> rows = {{"job", job.spec().name() + " (" + job.id() + ")"},
                                {"state", state}};
  AppendResult(job, &rows);
  const v1::Attempt& attempt = job.attempt();
  if (attempt.has_started_at() && attempt.has_ended_at()) {
    const std::chrono::duration<double> time =
        TimeOf(attempt.ended_at()) - TimeOf(attempt.started_at());
    rows.push_back(
        {"time", ClockText(time.count()) + " of attempt " + std::to_string(attempt.generation())});
  }
  const std::string checkpoint = CheckpointOf(job);
  if (!checkpoint.empty()) rows.push_back({"checkpoint", checkpoint});
  return AlignedText(rows) + RankTexts(job, workers);
}

}  // namespace agoq
