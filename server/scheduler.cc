#include "server/scheduler.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <utility>

#include "proto/common/job_checks.h"

namespace agoq {
namespace {

using google::protobuf::util::TimeUtil;

bool IsTaken(const WorkerOffer& offer, const std::vector<v1::Placement>& placements) {
  return std::any_of(placements.begin(), placements.end(), [&](const v1::Placement& placement) {
    return placement.worker() == offer.worker;
  });
}

v1::Attempt NewAttempt(const v1::Job& job, const std::vector<v1::Placement>& placements) {
  v1::Attempt attempt;
  attempt.set_generation(job.status().generation());
  attempt.set_state(v1::ATTEMPT_STATE_RESERVED);
  for (const v1::Placement& placement : placements) *attempt.add_placements() = placement;
  attempt.set_failing_rank(-1);
  attempt.set_first_checkpoint_step(job.status().checkpoint_step());
  return attempt;
}

std::string NamesOf(const std::vector<v1::Placement>& placements) {
  std::string names;
  for (const v1::Placement& placement : placements) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", placement.worker());
  }
  return names;
}

}  // namespace

GangNeed NeedOf(const v1::JobSpec& spec, GangPlanner& planner) {
  return {.num_ranks = NumRanks(spec),
          .least_bytes = planner.SmallestBudget(spec),
          .budget_bytes = spec.plan().budget_bytes()};
}

void Scheduler::Run() {
  waiting_.clear();
  std::vector<WorkerOffer> offers = cluster_.workers.Offers();
  std::string blocking;  // name of the job that the rest waits for
  for (const std::string& id : cluster_.jobs.Queued()) {
    const v1::Job& job = *cluster_.jobs.Find(id);
    if (TimeUtil::TimestampToNanoseconds(job.status().not_before()) >
        TimeUtil::TimestampToNanoseconds(cluster_.jobs.Now())) {
      continue;
    }
    if (!blocking.empty()) {
      Wait(job, v1::JOB_REASON_PRIORITY, absl::StrCat("job ", blocking, " comes first"));
      continue;
    }
    if (!TryToPlace(job, &offers)) blocking = job.spec().name();
  }
}

bool Scheduler::TryToPlace(const v1::Job& job, std::vector<WorkerOffer>* offers) {
  const GangNeed need = NeedOf(job.spec(), cluster_.planner);
  const GangPlacement placed = PlaceGang(need, *offers);
  if (!placed.placements.empty()) {
    std::erase_if(*offers,
                  [&](const WorkerOffer& offer) { return IsTaken(offer, placed.placements); });
    Reserve(job, placed.placements);
    return true;
  }
  Wait(job, placed.reason, placed.message);
  // One that no idle cluster of these workers could hold must not block those that fit.
  return PlaceOnIdleCluster(need, cluster_.workers.Offers()).placements.empty();
}

void Scheduler::Reserve(v1::Job job, const std::vector<v1::Placement>& placements) {
  v1::JobStatus& status = *job.mutable_status();
  status.set_state(v1::JOB_STATE_STARTING);
  status.clear_reason();
  status.clear_not_before();
  status.set_generation(status.generation() + 1);
  status.set_message(absl::StrCat("attempt ", status.generation(), " on ", NamesOf(placements)));
  *job.mutable_attempt() = NewAttempt(job, placements);
  *job.mutable_attempt()->mutable_started_at() = cluster_.jobs.Now();
  const Change change = {.kind = "reserved", .message = status.message()};
  if (!cluster_.jobs.Put(job, change).ok()) return;
  for (const v1::Placement& placement : placements) {
    cluster_.workers.Promise(
        placement.worker(),
        {.job_id = job.id(), .generation = job.status().generation(), .rank = placement.rank()});
  }
  cluster_.rendezvous.Open(job.id(), job.status().generation());
}

// Free bytes change with each heartbeat: only a new reason is worth a record.
void Scheduler::Wait(const v1::Job& job, v1::JobReason reason, const std::string& message) {
  waiting_[job.id()] = message;
  if (job.status().reason() == reason) return;
  v1::Job updated = job;
  updated.mutable_status()->set_reason(reason);
  updated.mutable_status()->set_message(message);
  updated.mutable_status()->clear_not_before();
  cluster_.jobs.Put(std::move(updated), {.kind = "waiting", .message = message}).IgnoreError();
}

std::string Scheduler::WaitingFor(const std::string& job_id) const {
  const auto message = waiting_.find(job_id);
  return message == waiting_.end() ? "" : message->second;
}

}  // namespace agoq
