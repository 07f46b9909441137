#include "client/job_text.h"

#include <vector>

#include "client/progress_line.h"
#include "client/rank_text.h"
#include "client/summary_text.h"
#include "proto/common/plan_codec.h"
#include "proto/common/plan_table.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

std::string StateWithReason(const v1::JobStatus& status, bool has_color) {
  std::string text = ColoredState(status.state(), has_color);
  if (status.state() == v1::JOB_STATE_STOPPING && status.target() != v1::JOB_STATE_UNSPECIFIED) {
    text += " to be " + StateText(status.target());
  }
  const std::string reason = ReasonText(status.reason());
  return reason.empty() ? text : text + " (" + reason + ")";
}

std::string AttemptText(const v1::Attempt& attempt) {
  std::string text = std::to_string(attempt.generation()) + ", " + StateText(attempt.state());
  const std::string cause = CauseText(attempt.cause());
  if (!cause.empty()) text += " (" + cause + ")";
  return attempt.message().empty() ? text : text + ": " + attempt.message();
}

std::string ConditionsText(const v1::JobStatus& status) {
  std::string text;
  for (const std::string& condition : status.conditions()) {
    text += (text.empty() ? "" : ", ") + condition;
  }
  return text;
}

void AppendStatus(const v1::Job& job, const TextOptions& options, std::vector<TableRow>* rows) {
  const v1::JobStatus& status = job.status();
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows->push_back({name, value});
  };
  std::string state = StateWithReason(status, options.has_color);
  if (status.has_since()) state += ", for " + AgeText(TimeOf(status.since()), options.now);
  add("state", state);
  add("message", status.message());
  if (status.queue_position() > 0) add("queue", "place " + std::to_string(status.queue_position()));
  add("conditions", ConditionsText(status));
  if (status.has_progress()) add("progress", ProgressText(status.progress()));
  if (job.has_attempt()) add("attempt", AttemptText(job.attempt()));
  if (status.failures() > 0) add("failures", std::to_string(status.failures()));
  if (!status.checkpoint().empty()) {
    add("checkpoint", status.checkpoint() + ", step " + std::to_string(status.checkpoint_step()));
  }
}

std::string PlanPart(const v1::Job& job) {
  const DecodedPlan decoded = DecodePlan(NewestPlan(job));
  if (decoded.plan.ranks.empty()) return "";
  return "\n" + PlanTable(decoded.plan, {.compute = ComputeOf(job.spec())});
}

}  // namespace

std::string JobText(const v1::Job& job, const TextOptions& options) {
  std::vector<TableRow> rows = {{"name", job.spec().name()}, {"id", job.id()}};
  if (!job.owner().empty()) rows.push_back({"owner", job.owner()});
  if (job.has_submitted_at()) rows.push_back({"submitted", TimeText(job.submitted_at())});
  AppendStatus(job, options, &rows);
  std::string text = AlignedText(rows) + RankTexts(job, {});
  if (options.is_wide) text += PlanPart(job);
  return text;
}

std::string StateLine(const v1::Job& job, bool has_color) {
  const v1::JobStatus& status = job.status();
  const std::string name = job.spec().name().empty() ? job.id() : job.spec().name();
  std::string line = name + ": " + StateWithReason(status, has_color);
  return status.message().empty() ? line : line + ": " + status.message();
}

}  // namespace agoq
