#include "worker/daemon/supervisor.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace agoq {
namespace {

constexpr std::size_t kKeptLogs = 20;  // of attempts that were forgotten
constexpr std::chrono::seconds kAdoptionPatience{1};

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, RankServices services)
    : options_(std::move(options)), services_(std::move(services)) {
  services_.on_status = [this, next = services_.on_status](const v1::TaskStatus& status) {
    NoteChange();
    next(status);
  };
  services_.on_end = [this] { NoteChange(); };
}

Supervisor::~Supervisor() {
  std::map<std::string, RankPointer> ranks;
  const std::lock_guard lock(mutex_);
  ranks.swap(ranks_);
}

void Supervisor::NoteChange() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

void Supervisor::AdoptFolders() {
  for (const AttemptFolder& folder : ListAttemptFolders(options_.attempts)) AdoptFolder(folder);
  PruneLogs(options_.attempts, kKeptLogs);
  Await(kAdoptionPatience, [](const HeldRank& rank) {
    return rank.status().state() == v1::TaskStatus::STATE_PREPARING;
  });
}

void Supervisor::AdoptFolder(const AttemptFolder& folder) {
  const std::optional<v1::TrainerTask> task = folder.ReadTask();
  if (!task) return folder.DropAllButLog();
  RankPointer rank = Revive({.folder = folder, .task = *task, .device = 0});
  const std::lock_guard lock(mutex_);
  ranks_[AttemptName(task->id())] = std::move(rank);
}

std::unique_ptr<HeldRank> Supervisor::Revive(RankTask task) {
  if (const std::optional<v1::TaskStatus> exit = task.folder.ReadExit()) {
    return HeldRank::Ended(services_, std::move(task), *exit);
  }
  std::unique_ptr<TrainerProcess> process;
  if (const std::optional<ProcessIdentity> identity = task.folder.ReadProcess()) {
    auto adopted = services_.processes.Adopt(*identity);
    if (adopted.ok()) process = *std::move(adopted);
  }
  services_.log.Info(absl::StrCat(process ? "adopts the trainer in " : "found a dead trainer in ",
                                  task.folder.path().string()));
  return HeldRank::Adopt(services_, std::move(task), std::move(process));
}

std::string Supervisor::ProblemWith(const v1::Prepare& prepare) const {
  const v1::RankId& id = prepare.id();
  if (!IsJobId(id.job_id()) || id.generation() < 1) {
    return absl::StrCat("'", id.job_id(), "', generation ", id.generation(),
                        ", is no attempt: a job id is letters, digits and '-', generations start "
                        "at 1");
  }
  {
    const std::lock_guard lock(mutex_);
    if (!closed_reason_.empty()) return closed_reason_;
  }
  const std::int64_t newest = NewestGeneration(options_.attempts, id.job_id());
  if (newest < id.generation()) return "";
  return absl::StrCat("generation ", id.generation(), " of job ", id.job_id(),
                      " comes too late: this worker has seen generation ", newest,
                      "; make a new attempt");
}

v1::TrainerTask Supervisor::TaskOf(const v1::Prepare& prepare) const {
  v1::TrainerTask task;
  *task.mutable_id() = prepare.id();
  task.set_world(prepare.world());
  *task.mutable_spec() = prepare.spec();
  *task.mutable_plan() = prepare.plan();
  task.set_budget_bytes(prepare.budget_bytes());
  task.set_host(options_.host);
  task.set_device_kind(options_.device_kind);
  task.set_grace_seconds(options_.trainer_grace_seconds);
  return task;
}

std::string Supervisor::Prepare(const v1::Prepare& prepare) {
  if (const RankPointer known = Find(prepare.id())) {
    known->Repeat();
    return "";
  }
  if (std::string problem = ProblemWith(prepare); !problem.empty()) return problem;
  // A newer generation fences off the older ones of its job.
  for (const RankPointer& rank : Ranks()) {
    if (rank->id().job_id() == prepare.id().job_id()) {
      rank->Abort("a newer attempt of its job is being prepared");
    }
  }
  const std::string name = AttemptName(prepare.id());
  RankPointer rank = HeldRank::Prepare(services_,
                                       {.folder = AttemptFolder(options_.attempts / name),
                                        .task = TaskOf(prepare),
                                        .device = prepare.device()},
                                       prepare.timeout_seconds());
  const std::lock_guard lock(mutex_);
  ranks_[name] = std::move(rank);
  return "";
}

void Supervisor::Start(const v1::RankId& id) {
  const RankPointer rank = Find(id);
  rank ? rank->Start() : TellUnknown(id);
}

void Supervisor::Drain(const v1::Drain& drain) {
  const RankPointer rank = Find(drain.id());
  if (!rank) return TellUnknown(drain.id());
  const double seconds = drain.deadline_seconds();
  rank->Drain(seconds > 0 ? seconds : options_.drain_seconds, drain.reason());
}

void Supervisor::Abort(const v1::Abort& abort) {
  const RankPointer rank = Find(abort.id());
  rank ? rank->Abort(abort.reason()) : TellUnknown(abort.id());
}

void Supervisor::Forget(const v1::RankId& id) {
  const RankPointer rank = Find(id);
  if (rank && rank->has_exited()) Drop(rank);
}

void Supervisor::KeepOnly(const std::vector<v1::RankId>& kept) {
  for (const RankPointer& rank : Ranks()) {
    const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const v1::RankId& id) {
      return AttemptName(id) == AttemptName(rank->id());
    });
    if (is_kept) continue;
    if (rank->has_exited()) {
      Drop(rank);
    } else {
      rank->Abandon("the coordinator does not know this attempt as one that goes on");
    }
  }
}

void Supervisor::DrainAll(double deadline_seconds, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    closed_reason_ = absl::StrCat(reason, "; use another worker");
  }
  for (const RankPointer& rank : Ranks()) {
    if (!rank->has_exited()) rank->Drain(deadline_seconds, reason);
  }
}

void Supervisor::DrainOrphans(const std::string& reason) {
  for (const RankPointer& rank : Ranks()) {
    if (!rank->has_exited()) rank->DrainAsOrphan(options_.drain_seconds, reason);
  }
}

bool Supervisor::AwaitEnds(std::chrono::duration<double> time) {
  return Await(time, [](const HeldRank& rank) { return !rank.has_exited(); });
}

bool Supervisor::AwaitForgotten(std::chrono::duration<double> time) {
  return Await(time,
               [](const HeldRank& rank) { return rank.has_exited() && !rank.is_abandoned(); });
}

bool Supervisor::Await(std::chrono::duration<double> time,
                       const std::function<bool(const HeldRank&)>& is_awaited) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (true) {
    std::int64_t seen = 0;
    {
      const std::lock_guard lock(mutex_);
      seen = changes_;
    }
    const std::vector<RankPointer> ranks = Ranks();
    const bool is_over = std::none_of(ranks.begin(), ranks.end(),
                                      [&](const RankPointer& rank) { return is_awaited(*rank); });
    if (is_over) return true;
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return changes_ != seen; })) return false;
  }
}

void Supervisor::Tick() {
  for (const RankPointer& rank : Ranks()) {
    if (rank->is_abandoned() && rank->has_exited()) Drop(rank);
  }
}

Supervisor::RankPointer Supervisor::Find(const v1::RankId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = ranks_.find(AttemptName(id));
  return found == ranks_.end() ? nullptr : found->second;
}

void Supervisor::TellUnknown(const v1::RankId& id) const {
  const auto now = services_.clock.WallNow().time_since_epoch();
  services_.on_status(
      UnknownRankStatus(id, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
}

std::vector<Supervisor::RankPointer> Supervisor::Ranks() const {
  const std::lock_guard lock(mutex_);
  std::vector<RankPointer> ranks;
  for (const auto& [name, rank] : ranks_) ranks.push_back(rank);
  return ranks;
}

void Supervisor::Drop(const RankPointer& rank) {
  rank->folder().DropAllButLog();
  PruneLogs(options_.attempts, kKeptLogs);
  {
    const std::lock_guard lock(mutex_);
    ranks_.erase(AttemptName(rank->id()));
  }
  NoteChange();
}

std::vector<v1::TaskStatus> Supervisor::Statuses() const {
  std::vector<v1::TaskStatus> statuses;
  for (const RankPointer& rank : Ranks()) {
    if (!rank->is_abandoned()) statuses.push_back(rank->status());
  }
  return statuses;
}

std::vector<v1::RankProgress> Supervisor::Progress() const {
  std::vector<v1::RankProgress> progress;
  for (const RankPointer& rank : Ranks()) {
    if (!rank->has_exited() && !rank->is_abandoned()) progress.push_back(rank->Progress());
  }
  return progress;
}

std::vector<HeldMemory> Supervisor::Memory() const {
  std::vector<HeldMemory> memory;
  for (const RankPointer& rank : Ranks()) {
    if (const std::optional<HeldMemory> held = rank->Memory()) memory.push_back(*held);
  }
  return memory;
}

std::string Supervisor::problem() const {
  std::string problems;
  for (const RankPointer& rank : Ranks()) {
    const std::string problem = rank->problem();
    if (!problem.empty()) absl::StrAppend(&problems, problems.empty() ? "" : "; ", problem);
  }
  return problems;
}

}  // namespace agoq
