#include "client/job_table.h"

#include <cmath>

#include "proto/common/text_table.h"

namespace agoq {
namespace {

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string WorkersText(const v1::Attempt& attempt) {
  std::string text;
  for (const v1::Placement& placement : attempt.placements()) {
    text += (text.empty() ? "" : ",") + placement.worker();
  }
  return text;
}

TableRow RowOf(const v1::Job& job, const TextOptions& options) {
  const v1::JobStatus& status = job.status();
  const v1::JobProgress& progress = status.progress();
  const bool has_steps = progress.step() > 0;
  TableRow row = {job.spec().name(),
                  job.id(),
                  ColoredState(status.state(), options.has_color),
                  OrDash(ReasonText(status.reason())),
                  has_steps ? std::to_string(std::lround(100 * progress.done_ratio())) + "%" : "-",
                  has_steps ? std::to_string(progress.step()) : "-",
                  has_steps ? LossText(progress.loss()) : "-",
                  AgeText(TimeOf(job.submitted_at()), options.now)};
  if (!options.is_wide) return row;
  row.push_back(has_steps ? RateText(progress.tokens_per_second()) : "-");
  row.push_back(status.generation() > 0 ? std::to_string(status.generation()) : "-");
  row.push_back(OrDash(job.owner()));
  row.push_back(OrDash(WorkersText(job.attempt())));
  row.push_back(status.message());
  return row;
}

}  // namespace

std::string JobTable(const std::vector<v1::Job>& jobs, const TextOptions& options) {
  std::vector<TableRow> rows;
  if (options.has_headers) {
    rows.push_back({"NAME", "ID", "STATE", "REASON", "DONE", "STEP", "LOSS", "AGE"});
    if (options.is_wide) {
      for (const char* name : {"TOK/S", "ATTEMPT", "OWNER", "WORKERS", "MESSAGE"}) {
        rows.back().emplace_back(name);
      }
    }
  }
  for (const v1::Job& job : jobs) rows.push_back(RowOf(job, options));
  return AlignedText(rows);
}

}  // namespace agoq
