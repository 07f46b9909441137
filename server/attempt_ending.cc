// How attempts end: the second half of AttemptDriver.
#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <utility>

#include "server/attempt_driver.h"
#include "server/attempt_outcome.h"
#include "server/job_state.h"

namespace agoq {
namespace {

// A failed collective operation alone is mostly the echo of a death that is about to be reported.
constexpr double kEchoPatienceSeconds = 1;
constexpr double kDefaultDrainSeconds = 300;

bool AllEnded(const AttemptView& view) {
  return std::all_of(view.ranks.begin(), view.ranks.end(),
                     [](const RankView& rank) { return rank.has_ended(); });
}

// Ends that the coordinator brought about say nothing of the cause.
std::vector<RankEnd> OwnEnds(const AttemptView& view) {
  std::vector<RankEnd> ends;
  for (std::size_t rank = 0; rank < view.ranks.size(); ++rank) {
    const RankView& seen = view.ranks[rank];
    if (!seen.has_ended() || seen.was_aborted) continue;
    ends.push_back({.rank = static_cast<std::int64_t>(rank),
                    .cause = seen.status.cause(),
                    .message = seen.status.message(),
                    .at_unix_nanos = seen.status.at_unix_nanos()});
  }
  return ends;
}

std::string Sentence(const v1::Job& job, const RankEnd& end) {
  for (const v1::Placement& placement : job.attempt().placements()) {
    if (placement.rank() != end.rank) continue;
    return absl::StrCat("rank ", end.rank, " on ", placement.worker(), ": ", end.message);
  }
  return end.message;
}

void AddResults(const AttemptView& view, v1::Attempt* attempt) {
  attempt->clear_results();
  for (const RankView& rank : view.ranks) {
    if (rank.status.has_result()) *attempt->add_results() = rank.status.result();
  }
}

void SetCause(const RankEnd& end, const std::string& message, v1::Attempt* attempt) {
  attempt->set_cause(end.cause);
  attempt->set_failing_rank(end.rank);
  attempt->set_message(message);
}

}  // namespace

void AttemptDriver::RecoverFromEnds(const v1::Job& job, AttemptView& view) {
  const RankEnd first = FirstCause(OwnEnds(view));
  const bool may_be_echo = first.cause == v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED && !AllEnded(view);
  if (!view.is_stopping) {
    view.is_stopping = true;
    view.stopping_since = cluster_.clock.Now();
  }
  if (may_be_echo && cluster_.SecondsSince(view.stopping_since) < kEchoPatienceSeconds) return;
  Recover(job, view, first.cause, first.rank, Sentence(job, first));
}

void AttemptDriver::Recover(v1::Job job, AttemptView& view, v1::AttemptCause cause,
                            std::int64_t rank, const std::string& message) {
  view.is_stopping = true;
  view.stopping_since = cluster_.clock.Now();
  const std::string id = job.id();
  job.mutable_status()->set_state(v1::JOB_STATE_RECOVERING);
  job.mutable_status()->set_message(message);
  job.mutable_attempt()->set_state(v1::ATTEMPT_STATE_STOPPING);
  SetCause({.rank = rank, .cause = cause}, message, job.mutable_attempt());
  if (cluster_.jobs.Put(std::move(job), {.kind = "failed", .message = message}).ok()) Drive(id);
}

void AttemptDriver::StopRanks(const v1::Job& job, AttemptView& view, bool kills,
                              const std::string& reason) {
  for (const v1::Placement& placement : job.attempt().placements()) {
    RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    if (rank.has_ended()) continue;
    v1::CoordinatorMessage message;
    if (kills) {
      rank.was_aborted = true;
      *message.mutable_abort()->mutable_id() = IdOf(job, placement.rank());
      message.mutable_abort()->set_reason(reason);
    } else {
      *message.mutable_drain()->mutable_id() = IdOf(job, placement.rank());
      message.mutable_drain()->set_reason(reason);
      message.mutable_drain()->set_deadline_seconds(job.status().stop_deadline_seconds());
    }
    SendDue(placement, rank, std::move(message));
  }
}

void AttemptDriver::DriveRecovering(const v1::Job& job, AttemptView& view) {
  EndRanksOfLostWorkers(job, view);
  if (AllEnded(view)) return EndAfterFault(job, view);
  // Ranks that drain stop together with a checkpoint, by themselves.
  const bool drains = job.attempt().cause() == v1::ATTEMPT_CAUSE_DRAINED;
  if (drains && cluster_.SecondsSince(view.stopping_since) < kDefaultDrainSeconds) return;
  StopRanks(job, view, /*kills=*/true, job.attempt().message());
}

void AttemptDriver::EndAfterFault(v1::Job job, const AttemptView& view) {
  const RankEnd first = FirstCause(OwnEnds(view));
  if (first.rank >= 0) SetCause(first, Sentence(job, first), job.mutable_attempt());
  AddResults(view, job.mutable_attempt());
  const NextMove next = AfterAttempt(job.spec().restart(), job.status(), job.attempt(),
                                     cluster_.options.backoff_seconds);
  v1::JobStatus& status = *job.mutable_status();
  status.set_state(next.state);
  status.set_reason(next.reason);
  status.set_message(next.message);
  status.set_failures(next.failures);
  status.set_attempts_without_progress(next.attempts_without_progress);
  status.set_out_of_memory_ends(next.out_of_memory_ends);
  if (next.wait_seconds > 0) {
    *status.mutable_not_before() =
        cluster_.jobs.Now() + google::protobuf::util::TimeUtil::MillisecondsToDuration(
                                  static_cast<std::int64_t>(next.wait_seconds * 1000));
  }
  EndAttempt(std::move(job), {.kind = "attempt_ended", .message = next.message});
}

void AttemptDriver::DriveStopping(const v1::Job& job, AttemptView& view) {
  if (!view.is_stopping) {
    view.is_stopping = true;
    view.stopping_since = cluster_.clock.Now();
  }
  const bool has_no_trainer = job.attempt().state() == v1::ATTEMPT_STATE_RESERVED;
  EndRanksOfLostWorkers(job, view);
  if (has_no_trainer || AllEnded(view)) return EndAfterStop(job, view);
  const bool is_late =
      cluster_.SecondsSince(view.stopping_since) > job.status().stop_deadline_seconds();
  StopRanks(job, view, job.status().stop_kills() || is_late, job.status().message());
}

void AttemptDriver::EndAfterStop(v1::Job job, const AttemptView& view) {
  const bool is_done = job.attempt().state() != v1::ATTEMPT_STATE_RESERVED &&
                       std::all_of(view.ranks.begin(), view.ranks.end(), [](const RankView& rank) {
                         return rank.status.cause() == v1::ATTEMPT_CAUSE_COMPLETED;
                       });
  if (is_done) return Succeed(std::move(job), view);
  AddResults(view, job.mutable_attempt());
  job.mutable_attempt()->set_cause(v1::ATTEMPT_CAUSE_USER_STOP);
  job.mutable_attempt()->set_message(job.status().message());
  job.mutable_status()->set_state(job.status().target());
  job.mutable_status()->set_reason(v1::JOB_REASON_USER_STOP);
  job.mutable_status()->clear_target();
  const std::string message = job.status().message();
  EndAttempt(std::move(job), {.kind = "stopped", .message = message});
}

void AttemptDriver::Succeed(v1::Job job, const AttemptView& view) {
  AddResults(view, job.mutable_attempt());
  job.mutable_attempt()->set_cause(v1::ATTEMPT_CAUSE_COMPLETED);
  job.mutable_attempt()->clear_message();
  job.mutable_status()->set_state(v1::JOB_STATE_SUCCEEDED);
  job.mutable_status()->clear_reason();
  job.mutable_status()->clear_target();
  const std::int64_t steps = job.attempt().results().empty() ? 0 : job.attempt().results(0).steps();
  job.mutable_status()->set_message(absl::StrCat("done after ", steps, " steps"));
  const std::string message = job.status().message();
  EndAttempt(std::move(job), {.kind = "succeeded", .message = message});
}

void AttemptDriver::EndAttempt(v1::Job job, const Change& change) {
  v1::Attempt& attempt = *job.mutable_attempt();
  const bool had_trainers = attempt.state() != v1::ATTEMPT_STATE_RESERVED;
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  *attempt.mutable_ended_at() = cluster_.jobs.Now();
  if (!cluster_.jobs.Put(job, change).ok()) return;  // the next tick comes here again
  cluster_.rendezvous.Close(job.id());
  cluster_.views.erase(job.id());
  for (const v1::Placement& placement : attempt.placements()) {
    cluster_.workers.Release(placement.worker(), job.id());
    if (!had_trainers) continue;
    v1::CoordinatorMessage message;
    *message.mutable_forget()->mutable_id() = IdOf(job, placement.rank());
    cluster_.workers.Send(placement.worker(), std::move(message));
  }
}

void AttemptDriver::EndRanksOfLostWorkers(const v1::Job& job, AttemptView& view) {
  for (const v1::Placement& placement : job.attempt().placements()) {
    const WorkerEntry* const worker = cluster_.workers.Find(placement.worker());
    RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    if (rank.has_ended() || (worker != nullptr && !worker->is_lost)) continue;
    rank.status.set_state(v1::TaskStatus::STATE_EXITED);
    rank.status.set_cause(v1::ATTEMPT_CAUSE_WORKER_LOST);
    rank.status.set_message(absl::StrCat("worker ", placement.worker(), " is lost"));
  }
}

}  // namespace agoq
