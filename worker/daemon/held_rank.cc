#include "worker/daemon/held_rank.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/common/progress_page.h"
#include "worker/daemon/file_handle.h"
#include "worker/daemon/log_tail.h"

namespace agoq {
namespace {

// How long a due kill may wait to be seen.
constexpr std::chrono::milliseconds kWatchInterval{50};

std::int64_t UnixNanos(Clock::Wall at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

bool HasFailed(v1::AttemptCause cause) {
  return cause != v1::ATTEMPT_CAUSE_COMPLETED && cause != v1::ATTEMPT_CAUSE_DRAINED &&
         cause != v1::ATTEMPT_CAUSE_COORDINATOR_ORPHAN;
}

}  // namespace

HeldRank::HeldRank(const RankServices& services, RankTask task)
    : services_(services),
      folder_(std::move(task.folder)),
      task_(std::move(task.task)),
      device_(task.device),
      label_{task_.spec().name(), task_.id().rank()},
      state_(task_.id(), services.kill_wait) {}

std::unique_ptr<HeldRank> HeldRank::Prepare(const RankServices& services, RankTask task,
                                            double prepare_seconds) {
  std::unique_ptr<HeldRank> rank(new HeldRank(services, std::move(task)));
  rank->state_.AwaitHello(prepare_seconds, rank->Now());
  rank->is_new_ = true;
  rank->thread_ = std::jthread([r = rank.get()](std::stop_token stop) { r->Run(stop); });
  return rank;
}

std::unique_ptr<HeldRank> HeldRank::Adopt(const RankServices& services, RankTask task,
                                          std::unique_ptr<TrainerProcess> process) {
  std::unique_ptr<HeldRank> rank(new HeldRank(services, std::move(task)));
  rank->process_ = std::move(process);
  rank->thread_ = std::jthread([r = rank.get()](std::stop_token stop) { r->Run(stop); });
  return rank;
}

std::unique_ptr<HeldRank> HeldRank::Ended(const RankServices& services, RankTask task,
                                          const v1::TaskStatus& exit) {
  std::unique_ptr<HeldRank> rank(new HeldRank(services, std::move(task)));
  rank->state_.SetExited(exit);
  return rank;
}

HeldRank::~HeldRank() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (link_) link_->Close();
}

void HeldRank::Run(std::stop_token stop) {
  services_.metrics.BeginAttempt(label_, FiguresOf(task_));
  if (is_new_) {
    const absl::Status launched = Launch();
    const std::lock_guard lock(mutex_);
    if (!launched.ok()) state_.FailStart(std::string(launched.message()));
  }
  if (!process_) return Finish(std::nullopt);
  Connect();
  if (const std::optional<ProcessEnd> end = Watch(stop)) {
    link_->Finish();
    Finish(end);
  }
}

absl::Status HeldRank::Launch() {
  absl::Status status = folder_.Create(task_);
  if (!status.ok()) return status;
  const bool is_long = folder_.has_long_name();
  absl::StatusOr<std::unique_ptr<TrainerProcess>> process =
      services_.processes.Spawn({.program = services_.trainer,
                                 .arguments = {"attempt", is_long ? PathOfOpenFile(kInheritedFolder)
                                                                  : folder_.path().string()},
                                 .log = folder_.log(),
                                 .folder = is_long ? folder_.path() : std::filesystem::path()});
  if (!process.ok()) return process.status();
  process_ = *std::move(process);
  services_.log.Info("trainer started", Fields());
  return folder_.WriteProcess(process_->identity());
}

void HeldRank::Connect() {
  auto link = std::make_shared<TrainerLink>(
      folder_.path(),
      [this](TrainerLink& from, const v1::FromTrainer& message) { Take(from, message); });
  const std::lock_guard lock(mutex_);
  pid_ = process_->identity().pid;
  link_ = link;
  link->Start();
}

std::optional<ProcessEnd> HeldRank::Watch(std::stop_token stop) {
  std::optional<Clock::Steady> killed;
  bool is_noted = false;
  while (!stop.stop_requested()) {
    if (std::optional<ProcessEnd> end = process_->WaitForEnd(kWatchInterval)) return end;
    const Clock::Steady now = services_.clock.Now();
    bool is_kill_due = false;
    {
      const std::lock_guard lock(mutex_);
      is_kill_due = state_.IsKillDue(now);
    }
    if (!is_kill_due) continue;
    process_->KillGroup();
    if (!killed) killed = now;
    if (!is_noted && now - *killed >= services_.kill_wait) {
      NoteStuck();
      is_noted = true;
    }
  }
  return std::nullopt;
}

void HeldRank::NoteStuck() {
  const std::string text = absl::StrCat(
      "process ", process_->identity().pid, " (rank ", label_.rank, " of job ", label_.training_job,
      ") is still there ", services_.kill_wait.count(),
      " s after SIGKILL: it is stuck in the kernel; look at it with ps, and restart the machine if "
      "it stays");
  services_.log.Error(text, Fields());
  const std::lock_guard lock(mutex_);
  problem_ = text;
}

void HeldRank::Finish(const std::optional<ProcessEnd>& process) {
  RankEnd end;
  {
    const std::lock_guard lock(mutex_);
    end = state_.End(process, Now());
  }
  // The trainer writes its report before it sends it: the link may have come too late.
  if (!end.report) end.report = folder_.ReadEnd();
  v1::TaskStatus status = ExitedStatus(end);
  if (HasFailed(status.cause())) status.set_log_tail(ReadLogTail(folder_.log()));
  const absl::Status written = folder_.WriteExit(status);
  if (!written.ok()) services_.log.Warning(std::string(written.message()), Fields());
  services_.metrics.EndAttempt(label_, status.cause(), services_.clock.Now());
  services_.log.Info(absl::StrCat("rank ended: ", v1::AttemptCause_Name(status.cause()),
                                  status.message().empty() ? "" : ": ", status.message()),
                     Fields());
  {
    const std::lock_guard lock(mutex_);
    state_.SetExited(status);
    problem_.clear();
  }
  Tell(status);
  services_.on_end();
}

void HeldRank::Take(TrainerLink& link, const v1::FromTrainer& message) {
  if (message.has_key_set() || message.has_key_wait()) return RelayKey(link, message);
  TakeIntoMetrics(message);
  Reaction reaction;
  {
    const std::lock_guard lock(mutex_);
    reaction = TakeIntoState(message);
  }
  for (const v1::ToTrainer& reply : reaction.send) link.Send(reply);
  if (reaction.tell) Tell(*reaction.tell);
}

Reaction HeldRank::TakeIntoState(const v1::FromTrainer& message) {
  switch (message.message_case()) {
    case v1::FromTrainer::kHello:
      return state_.TakeHello(message.hello(), Now());
    case v1::FromTrainer::kNote:
      return state_.TakeNote(message.note(), Now());
    case v1::FromTrainer::kCheckpoint:
      return state_.TakeCheckpoint(message.checkpoint(), Now());
    case v1::FromTrainer::kEnd:
      return state_.TakeEnd(message.end(), Now());
    case v1::FromTrainer::kStep:
      state_.TakeStep(message.step());
      return {};
    default:
      return {};
  }
}

void HeldRank::TakeIntoMetrics(const v1::FromTrainer& message) {
  if (message.has_step()) services_.metrics.AddStep(label_, message.step());
  if (!message.has_checkpoint()) return;
  services_.metrics.AddCheckpoint(label_, message.checkpoint().seconds(),
                                  services_.clock.WallNow());
}

void HeldRank::RelayKey(TrainerLink& link, const v1::FromTrainer& message) {
  const auto answer = [to = link.weak_from_this()](const v1::KeyAnswer& reply) {
    const std::shared_ptr<TrainerLink> trainer = to.lock();
    v1::ToTrainer envelope;
    *envelope.mutable_key_answer() = reply;
    if (trainer) trainer->Send(envelope);
  };
  if (message.has_key_set()) return services_.keys.Set(id(), message.key_set(), answer);
  services_.keys.Wait(id(), message.key_wait(), answer);
}

template <typename Command>
void HeldRank::Execute(const Command& command) {
  Reaction reaction;
  std::shared_ptr<TrainerLink> link;
  {
    const std::lock_guard lock(mutex_);
    reaction = command(state_);
    link = link_;
  }
  // Without a link, or when it is lost, the trainer's next Hello is answered with the same.
  for (const v1::ToTrainer& message : reaction.send) {
    if (link) link->Send(message);
  }
  if (reaction.tell) Tell(*reaction.tell);
}

void HeldRank::Start() {
  Execute([this](RankState& state) { return state.Start(Now()); });
}

void HeldRank::Drain(double deadline_seconds, const std::string& reason) {
  Execute([&](RankState& state) { return state.Drain(deadline_seconds, reason, Now()); });
}

void HeldRank::DrainAsOrphan(double deadline_seconds, const std::string& reason) {
  Execute([&](RankState& state) {
    state.SetOrphan();
    return state.Drain(deadline_seconds, reason, Now());
  });
}

void HeldRank::Abort(const std::string& reason) {
  Execute([&](RankState& state) { return state.Abort(reason); });
}

void HeldRank::Abandon(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
  }
  Abort(reason);
}

void HeldRank::Repeat() const { Tell(status()); }

void HeldRank::Tell(const v1::TaskStatus& status) const {
  if (!is_abandoned()) services_.on_status(status);
}

v1::TaskStatus HeldRank::status() const {
  const std::lock_guard lock(mutex_);
  return state_.status();
}

bool HeldRank::has_exited() const {
  const std::lock_guard lock(mutex_);
  return state_.has_exited();
}

bool HeldRank::is_abandoned() const {
  const std::lock_guard lock(mutex_);
  return is_abandoned_;
}

std::string HeldRank::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::optional<HeldMemory> HeldRank::Memory() const {
  const std::lock_guard lock(mutex_);
  if (state_.has_exited()) return std::nullopt;
  return HeldMemory{.device = device_, .budget_bytes = task_.budget_bytes(), .pid = pid_};
}

v1::RankProgress HeldRank::Progress() const {
  v1::RankProgress progress;
  *progress.mutable_id() = id();
  progress.set_phase(std::string(NameOf(ProgressPhase::kStarting)));
  const auto position = ReadProgressPage(ProgressPagePath(folder_.path(), label_.rank));
  if (position) {
    const std::int64_t nanos = Now().unix_nanos - position->phase_start_unix_nanos;
    progress.set_step(position->step);
    progress.set_phase(std::string(NameOf(position->phase)));
    progress.set_phase_seconds(static_cast<double>(nanos) * 1e-9);
    progress.set_collective_sequence(position->collective_sequence);
    progress.set_allocated_bytes(position->allocated_bytes);
  }
  if (label_.rank != 0) return progress;
  const std::lock_guard lock(mutex_);
  v1::JobProgress job = state_.progress();
  if (job.step() > 0) *progress.mutable_progress() = std::move(job);
  return progress;
}

Moment HeldRank::Now() const {
  return {.now = services_.clock.Now(), .unix_nanos = UnixNanos(services_.clock.WallNow())};
}

LogFields HeldRank::Fields() const {
  return {{"job", task_.id().job_id()},
          {"generation", std::to_string(task_.id().generation())},
          {"rank", std::to_string(task_.id().rank())}};
}

}  // namespace agoq
