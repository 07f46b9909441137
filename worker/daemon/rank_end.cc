#include "worker/daemon/rank_end.h"

#include <absl/strings/str_cat.h>

#include <cstring>

namespace agoq {
namespace {

v1::AttemptCause CauseOf(const RankEnd& end) {
  if (end.report) {
    const bool is_orphan_stop = end.is_orphan && end.report->cause() == v1::ATTEMPT_CAUSE_DRAINED;
    return is_orphan_stop ? v1::ATTEMPT_CAUSE_COORDINATOR_ORPHAN : end.report->cause();
  }
  const bool did_not_start = end.never_prepared && !end.intervention.empty();
  return did_not_start ? v1::ATTEMPT_CAUSE_START_FAILED : v1::ATTEMPT_CAUSE_RANK_EXIT;
}

std::string MessageOf(const RankEnd& end) {
  if (end.report) return end.report->message();
  if (!end.intervention.empty()) return end.intervention;
  if (!end.process) return "the trainer ended while the daemon was away, without a report";
  return absl::StrCat("the trainer ", DescribeEnd(*end.process),
                      " without a report; the end of its log may tell why");
}

}  // namespace

std::string DescribeEnd(const ProcessEnd& end) {
  if (end.signal != 0) {
    return absl::StrCat("ended by signal ", end.signal, " (", ::strsignal(end.signal), ")");
  }
  if (end.exit_code < 0) return "ended";
  return absl::StrCat("ended with exit code ", end.exit_code);
}

v1::TaskStatus ExitedStatus(const RankEnd& end) {
  v1::TaskStatus status;
  *status.mutable_id() = end.id;
  status.set_state(v1::TaskStatus::STATE_EXITED);
  status.set_cause(CauseOf(end));
  status.set_exit_code(end.process ? end.process->exit_code : -1);
  status.set_signal(end.process ? end.process->signal : 0);
  status.set_message(MessageOf(end));
  status.set_log_tail(end.log_tail);
  status.set_at_unix_nanos(end.at_unix_nanos);
  if (end.report && end.report->has_result()) *status.mutable_result() = end.report->result();
  return status;
}

v1::TaskStatus UnknownRankStatus(const v1::RankId& id, std::int64_t at_unix_nanos) {
  return ExitedStatus({.id = id,
                       .intervention = absl::StrCat("no such attempt here: ", id.job_id(),
                                                    ", generation ", id.generation()),
                       .never_prepared = true,
                       .at_unix_nanos = at_unix_nanos});
}

}  // namespace agoq
