#include "server/attempt_driver.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <utility>

#include "server/job_state.h"

namespace agoq {
namespace {

constexpr double kResendSeconds = 2;
// Before a gang that did not fit is tried again: memory may have become free by then.
constexpr std::int64_t kReplanWaitSeconds = 5;

bool AllAre(const AttemptView& view, v1::TaskStatus::State state) {
  return std::all_of(view.ranks.begin(), view.ranks.end(),
                     [&](const RankView& rank) { return rank.status.state() == state; });
}

bool AnyEnded(const AttemptView& view) {
  return std::any_of(view.ranks.begin(), view.ranks.end(),
                     [](const RankView& rank) { return rank.has_ended(); });
}

bool IsReady(const RankView& rank) {
  return rank.status.state() == v1::TaskStatus::STATE_PREPARED ||
         rank.status.state() == v1::TaskStatus::STATE_RUNNING;
}

bool TrainsOrDone(const RankView& rank) {
  return rank.status.state() == v1::TaskStatus::STATE_RUNNING || rank.has_ended();
}

std::int64_t BudgetOf(const v1::JobSpec& spec, const v1::ProfileResult& profile) {
  const std::int64_t bound = spec.plan().budget_bytes();
  return bound > 0 ? std::min(bound, profile.usable_bytes()) : profile.usable_bytes();
}

}  // namespace

void AttemptDriver::Drive(const std::string& job_id) {
  const v1::Job* const found = cluster_.jobs.Find(job_id);
  if (found == nullptr || !IsActive(found->status().state())) return;
  const v1::Job job = *found;  // the table's changes as the driver goes on
  AttemptView& view = cluster_.ViewOf(job);
  switch (job.status().state()) {
    case v1::JOB_STATE_STARTING:
      if (job.attempt().state() == v1::ATTEMPT_STATE_RESERVED) return DriveReserved(job, view);
      return DrivePreparing(job, view);
    case v1::JOB_STATE_RUNNING:
      return DriveRunning(job, view);
    case v1::JOB_STATE_RECOVERING:
      return DriveRecovering(job, view);
    default:
      return DriveStopping(job, view);
  }
}

// A command that had no effect for a while is sent again; workers take it twice.
void AttemptDriver::SendDue(const v1::Placement& placement, RankView& rank,
                            v1::CoordinatorMessage message) {
  const bool is_new = rank.sent_kind != message.message_case();
  if (!is_new && cluster_.SecondsSince(rank.sent) < kResendSeconds) return;
  const auto kind = message.message_case();
  if (!cluster_.workers.Send(placement.worker(), std::move(message))) return;
  rank.sent_kind = kind;
  rank.sent = cluster_.clock.Now();
}

void AttemptDriver::DriveReserved(const v1::Job& job, AttemptView& view) {
  bool is_complete = true;
  for (const v1::Placement& placement : job.attempt().placements()) {
    RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    const WorkerEntry* const worker = cluster_.workers.Find(placement.worker());
    if (worker == nullptr || worker->is_lost) {
      return ReleaseUnplanned(job, absl::StrCat("worker ", placement.worker(), " is lost"));
    }
    if (rank.profile.has_value()) {
      if (rank.profile->problem().empty()) continue;
      return ReleaseUnplanned(
          job, absl::StrCat("worker ", placement.worker(),
                            " cannot measure its memory: ", rank.profile->problem()));
    }
    is_complete = false;
    v1::CoordinatorMessage message;
    *message.mutable_profile()->mutable_id() = IdOf(job, placement.rank());
    SendDue(placement, rank, std::move(message));
  }
  if (is_complete) return MakePlan(job, view);
  if (cluster_.SecondsSince(view.began) > cluster_.options.prepare_seconds) {
    ReleaseUnplanned(job, absl::StrCat("not every worker measured its memory within ",
                                       cluster_.options.prepare_seconds, " s"));
  }
}

void AttemptDriver::MakePlan(const v1::Job& job, const AttemptView& view) {
  v1::Job updated = job;
  v1::Attempt& attempt = *updated.mutable_attempt();
  for (v1::Placement& placement : *attempt.mutable_placements()) {
    const RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    placement.set_budget_bytes(BudgetOf(job.spec(), *rank.profile));
  }
  const std::vector<v1::Placement> placements(attempt.placements().begin(),
                                              attempt.placements().end());
  std::string what = "keeps plan ";
  if (!job.has_plan() || !GangPlanner::Fits(job.plan(), placements)) {
    const GangPlan planned = cluster_.planner.Plan(job.spec(), placements);
    if (!planned.status.ok()) {
      return ReleaseUnplanned(job, std::string(planned.status.message()));
    }
    what = job.has_plan() ? absl::StrCat("plan ", job.plan().hash(), " fits no longer, new plan ")
                          : "plan ";
    *updated.mutable_plan() = planned.plan;
    updated.mutable_plan()->set_revision(job.plan().revision() + 1);
  }
  *attempt.mutable_plan() = updated.plan();
  attempt.set_state(v1::ATTEMPT_STATE_PREPARING);
  cluster_.jobs
      .Put(std::move(updated),
           {.kind = "planned", .message = absl::StrCat(what, attempt.plan().hash())})
      .IgnoreError();
  Drive(job.id());
}

// No trainer was started yet: the gang is free again at once.
void AttemptDriver::ReleaseUnplanned(v1::Job job, const std::string& message) {
  job.mutable_status()->set_state(v1::JOB_STATE_QUEUED);
  job.mutable_status()->set_reason(v1::JOB_REASON_INSUFFICIENT_MEMORY);
  job.mutable_status()->set_message(message);
  *job.mutable_status()->mutable_not_before() =
      cluster_.jobs.Now() + google::protobuf::util::TimeUtil::SecondsToDuration(kReplanWaitSeconds);
  job.mutable_attempt()->set_cause(v1::ATTEMPT_CAUSE_START_FAILED);
  job.mutable_attempt()->set_message(message);
  EndAttempt(std::move(job), {.kind = "released", .message = message});
}

void AttemptDriver::DrivePreparing(const v1::Job& job, AttemptView& view) {
  EndRanksOfLostWorkers(job, view);
  if (AnyEnded(view)) return RecoverFromEnds(job, view);
  for (const v1::Placement& placement : job.attempt().placements()) {
    RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    if (IsReady(rank)) continue;
    if (cluster_.SecondsSince(view.began) > cluster_.options.prepare_seconds) {
      return Recover(
          job, view, v1::ATTEMPT_CAUSE_START_FAILED, placement.rank(),
          absl::StrCat("rank ", placement.rank(), " on ", placement.worker(),
                       " was not prepared within ", cluster_.options.prepare_seconds, " s"));
    }
    v1::CoordinatorMessage message;
    v1::Prepare& prepare = *message.mutable_prepare();
    *prepare.mutable_id() = IdOf(job, placement.rank());
    prepare.set_world(job.attempt().placements_size());
    *prepare.mutable_spec() = job.spec();
    *prepare.mutable_plan() = job.attempt().plan();
    prepare.set_budget_bytes(placement.budget_bytes());
    prepare.set_device(placement.device());
    prepare.set_timeout_seconds(cluster_.options.prepare_seconds);
    SendDue(placement, rank, std::move(message));
  }
  if (!std::all_of(view.ranks.begin(), view.ranks.end(), IsReady)) return;
  v1::Job updated = job;
  updated.mutable_status()->set_state(v1::JOB_STATE_RUNNING);
  updated.mutable_attempt()->set_state(v1::ATTEMPT_STATE_RUNNING);
  cluster_.jobs.Put(std::move(updated), {.kind = "started", .message = job.status().message()})
      .IgnoreError();
  Drive(job.id());
}

void AttemptDriver::DriveRunning(const v1::Job& job, AttemptView& view) {
  for (const v1::Placement& placement : job.attempt().placements()) {
    RankView& rank = view.ranks[static_cast<std::size_t>(placement.rank())];
    const WorkerEntry* const worker = cluster_.workers.Find(placement.worker());
    if (worker != nullptr && worker->hold.has_value() && !worker->hold->trains) {
      cluster_.workers.Promise(placement.worker(), {.job_id = job.id(),
                                                    .generation = job.attempt().generation(),
                                                    .rank = placement.rank(),
                                                    .trains = true});
    }
    if (TrainsOrDone(rank) || rank.status.state() == v1::TaskStatus::STATE_CHECKPOINTED) continue;
    v1::CoordinatorMessage message;
    *message.mutable_start()->mutable_id() = IdOf(job, placement.rank());
    SendDue(placement, rank, std::move(message));
  }
  EndRanksOfLostWorkers(job, view);
  if (!AnyEnded(view)) return;
  const auto completed = [](const RankView& rank) {
    return rank.status.cause() == v1::ATTEMPT_CAUSE_COMPLETED;
  };
  if (AllAre(view, v1::TaskStatus::STATE_EXITED) &&
      std::all_of(view.ranks.begin(), view.ranks.end(), completed)) {
    return Succeed(job, view);
  }
  const bool any_failed =
      std::any_of(view.ranks.begin(), view.ranks.end(),
                  [&](const RankView& rank) { return rank.has_ended() && !completed(rank); });
  if (any_failed) RecoverFromEnds(job, view);
}

}  // namespace agoq
