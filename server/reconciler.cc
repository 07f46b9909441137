#include "server/reconciler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "server/job_state.h"
#include "server/worker_liveness.h"

namespace agoq {
namespace {

const v1::Placement* PlacementOf(const v1::Job& job, const std::string& worker) {
  for (const v1::Placement& placement : job.attempt().placements()) {
    if (placement.worker() == worker) return &placement;
  }
  return nullptr;
}

bool Holds(const v1::Hello& hello, const v1::RankId& id) {
  return std::any_of(hello.tasks().begin(), hello.tasks().end(), [&](const v1::TaskStatus& task) {
    return task.id().job_id() == id.job_id() && task.id().generation() == id.generation();
  });
}

}  // namespace

void Reconciler::Begin() {
  for (const std::string& id : cluster_.jobs.Active()) {
    const v1::Job& job = *cluster_.jobs.Find(id);
    cluster_.ViewOf(job);
    cluster_.rendezvous.Open(id, job.attempt().generation());
    for (const v1::Placement& placement : job.attempt().placements()) {
      cluster_.workers.Promise(placement.worker(),
                               {.job_id = id,
                                .generation = job.attempt().generation(),
                                .rank = placement.rank(),
                                .trains = job.attempt().state() == v1::ATTEMPT_STATE_RUNNING});
    }
  }
}

RankView* Reconciler::FindRank(const std::string& worker, const v1::RankId& id) {
  const v1::Job* const job = cluster_.jobs.Find(id.job_id());
  if (job == nullptr || !IsActive(job->status().state())) return nullptr;
  if (job->attempt().generation() != id.generation()) return nullptr;
  const v1::Placement* const placement = PlacementOf(*job, worker);
  if (placement == nullptr || placement->rank() != id.rank()) return nullptr;
  return &cluster_.ViewOf(*job).ranks[static_cast<std::size_t>(id.rank())];
}

// Messages may come late or twice: a rank only goes forward.
void Reconciler::Take(const v1::TaskStatus& status, RankView* rank) {
  if (rank->has_ended()) return;
  const bool is_checkpoint = status.state() == v1::TaskStatus::STATE_CHECKPOINTED;
  if (!is_checkpoint && status.state() < rank->status.state()) return;
  const v1::TaskStatus::State before = rank->status.state();
  rank->status = status;
  // It trains on.
  if (is_checkpoint) rank->status.set_state(std::max(before, v1::TaskStatus::STATE_RUNNING));
}

std::vector<v1::RankId> Reconciler::OnHello(const v1::Hello& hello) {
  std::vector<v1::RankId> adopted;
  for (const v1::TaskStatus& task : hello.tasks()) {
    RankView* const rank = FindRank(hello.worker(), task.id());
    if (rank == nullptr) {
      if (task.state() == v1::TaskStatus::STATE_EXITED) SendForget(hello.worker(), task.id());
      continue;
    }
    // Given up for lost meanwhile: it must not go on beside what took its place.
    if (rank->has_ended() && task.state() != v1::TaskStatus::STATE_EXITED) continue;
    Take(task, rank);
    RecordCheckpoint(task);
    adopted.push_back(task.id());
  }
  EndRanksThatAreMissing(hello);
  return adopted;
}

// A worker that came back without a rank that trained there has lost it.
void Reconciler::EndRanksThatAreMissing(const v1::Hello& hello) {
  for (const std::string& id : cluster_.jobs.Active()) {
    const v1::Job& job = *cluster_.jobs.Find(id);
    const v1::Placement* const placement = PlacementOf(job, hello.worker());
    if (placement == nullptr || Holds(hello, IdOf(job, placement->rank()))) continue;
    RankView& rank = cluster_.ViewOf(job).ranks[static_cast<std::size_t>(placement->rank())];
    rank.sent_kind = v1::CoordinatorMessage::MESSAGE_NOT_SET;  // what was sent may be lost
    const bool never_ran = job.attempt().state() == v1::ATTEMPT_STATE_RESERVED ||
                           job.attempt().state() == v1::ATTEMPT_STATE_PREPARING;
    if (never_ran || rank.has_ended()) continue;
    rank.status.set_state(v1::TaskStatus::STATE_EXITED);
    rank.status.set_cause(v1::ATTEMPT_CAUSE_WORKER_LOST);
    rank.status.set_message(absl::StrCat("worker ", hello.worker(),
                                         " came back without it; was its state directory lost?"));
  }
}

void Reconciler::OnTaskStatus(const std::string& worker, const v1::TaskStatus& status) {
  RankView* const rank = FindRank(worker, status.id());
  if (rank == nullptr) {
    if (status.state() == v1::TaskStatus::STATE_EXITED) SendForget(worker, status.id());
    return;
  }
  Take(status, rank);
  RecordCheckpoint(status);
  driver_.Drive(status.id().job_id());
}

void Reconciler::RecordCheckpoint(const v1::TaskStatus& status) {
  const v1::Job& job = *cluster_.jobs.Find(status.id().job_id());
  const bool is_newer = status.checkpoint_step() > job.status().checkpoint_step();
  if (status.checkpoint().empty() || !is_newer) return;
  v1::Job updated = job;
  updated.mutable_status()->set_checkpoint(status.checkpoint());
  updated.mutable_status()->set_checkpoint_step(status.checkpoint_step());
  cluster_.jobs
      .Put(std::move(updated),
           {.kind = "checkpoint",
            .actor = absl::StrCat("rank:", status.id().rank()),
            .message = absl::StrCat("step ", status.checkpoint_step(), ": ", status.checkpoint())})
      .IgnoreError();
}

void Reconciler::SendForget(const std::string& worker, const v1::RankId& id) {
  v1::CoordinatorMessage message;
  *message.mutable_forget()->mutable_id() = id;
  cluster_.workers.Send(worker, std::move(message));
}

void Reconciler::OnProfile(const std::string& worker, const v1::ProfileResult& result) {
  cluster_.workers.SetDevices(worker, {result.devices().begin(), result.devices().end()});
  RankView* const rank = FindRank(worker, result.id());
  if (rank == nullptr || rank->profile.has_value()) return;
  rank->profile = result;
  driver_.Drive(result.id().job_id());
}

void Reconciler::OnHeartbeat(const std::string& worker, const v1::Heartbeat& heartbeat) {
  cluster_.workers.Heard(worker, heartbeat);
  for (const v1::RankProgress& progress : heartbeat.ranks()) {
    RankView* const rank = FindRank(worker, progress.id());
    if (rank == nullptr) continue;
    if (progress.step() > rank->progress.step()) rank->stepped = cluster_.clock.Now();
    rank->progress = progress;
  }
  v1::CoordinatorMessage renewed;
  renewed.mutable_lease_renewed()->set_sequence(heartbeat.sequence());
  cluster_.workers.Send(worker, std::move(renewed));
}

void Reconciler::OnTick() {
  JudgeWorkers();
  for (const std::string& id : cluster_.jobs.Active()) driver_.Drive(id);
  scheduler_.Run();
  for (const std::string& id : cluster_.jobs.Active()) driver_.Drive(id);
}

void Reconciler::OnJobChanged(const std::string& job_id) {
  driver_.Drive(job_id);
  scheduler_.Run();
  driver_.Drive(job_id);
}

void Reconciler::JudgeWorkers() {
  std::vector<std::string> lost;
  for (const auto& [name, worker] : cluster_.workers.entries()) {
    if (!worker.is_lost && IsLost(worker)) lost.push_back(name);
  }
  for (const std::string& name : lost) cluster_.workers.MarkLost(name);
}

bool Reconciler::IsLost(const WorkerEntry& worker) const {
  if (!cluster_.workers.IsUnreachable(worker)) return false;
  WorkerEvidence evidence = {.silence_seconds = cluster_.workers.SilenceSeconds(worker),
                             .silence_limit_seconds = cluster_.options.silence_limit_seconds,
                             .is_in_grace = cluster_.workers.IsInGrace(),
                             .is_isolated = cluster_.workers.IsIsolated(),
                             .is_idle = !worker.hold.has_value()};
  const auto view =
      evidence.is_idle ? cluster_.views.end() : cluster_.views.find(worker.hold->job_id);
  if (view == cluster_.views.end()) return IsWorkerLost(evidence);
  const v1::Job& job = *cluster_.jobs.Find(worker.hold->job_id);
  evidence.attempt_is_over = job.attempt().state() == v1::ATTEMPT_STATE_STOPPING;
  for (const v1::Placement& placement : job.attempt().placements()) {
    const WorkerEntry* const peer = cluster_.workers.Find(placement.worker());
    if (peer == nullptr || peer == &worker || cluster_.workers.IsUnreachable(*peer)) continue;
    const RankView& rank = view->second.ranks[static_cast<std::size_t>(placement.rank())];
    evidence.any_peer_is_connected = true;
    evidence.seconds_without_step = cluster_.SecondsSince(rank.stepped);
    evidence.step_seconds_p95 =
        std::max(evidence.step_seconds_p95, rank.progress.progress().step_seconds_p95());
  }
  return IsWorkerLost(evidence);
}

v1::JobProgress Reconciler::ProgressOf(const AttemptView& view) const {
  return view.ranks.empty() ? v1::JobProgress() : view.ranks.front().progress.progress();
}

v1::Job Reconciler::Present(const v1::Job& job) const {
  v1::Job shown = job;
  v1::JobStatus& status = *shown.mutable_status();
  if (status.state() == v1::JOB_STATE_QUEUED) {
    const std::vector<std::string> queued = cluster_.jobs.Queued();
    const auto place = std::find(queued.begin(), queued.end(), job.id());
    status.set_queue_position(place - queued.begin() + 1);
    const std::string waiting = scheduler_.WaitingFor(job.id());
    if (!waiting.empty()) status.set_message(waiting);
  }
  const auto view = cluster_.views.find(job.id());
  if (!IsActive(status.state()) || view == cluster_.views.end()) return shown;
  *status.mutable_progress() = ProgressOf(view->second);
  const auto& placements = job.attempt().placements();
  const bool is_degraded =
      std::any_of(placements.begin(), placements.end(), [&](const v1::Placement& placement) {
        const WorkerEntry* const worker = cluster_.workers.Find(placement.worker());
        return worker == nullptr || cluster_.workers.IsUnreachable(*worker);
      });
  if (is_degraded) status.add_conditions("degraded");
  if (is_degraded && cluster_.workers.IsIsolated()) status.add_conditions("isolated");
  return shown;
}

}  // namespace agoq
