#include "tests/support/fake_trainer/fake_training.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proto/common/progress_page.h"
#include "tests/support/fake_trainer/fake_checkpoint.h"
#include "worker/trainer/daemon_link.h"
#include "worker/trainer/stop_forwarding.h"

namespace agoq {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kTokensOfAStep = 1024;

std::vector<LabelBytes> FakePeak() {
  return {{"weights", 400'000}, {"gradients", 100'000}, {"optimizer", 200'000},
          {"x1", 50'000},       {"up", 70'000},         {"workspace", 30'000}};
}

std::int64_t UnixNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class FakeRank {
 public:
  FakeRank(const std::filesystem::path& folder, const v1::TrainerTask& task,
           const FakeBehavior& behavior, DaemonLink& link)
      : task_(task),
        behavior_(behavior),
        link_(link),
        page_(ProgressPagePath(folder, task.id().rank())) {
    position_.generation = task.id().generation();
    Enter(ProgressPhase::kStarting);
  }

  int Run();

 private:
  bool is_first() const { return task_.id().rank() == 0; }
  bool IsStopped() const { return link_.stop_request() && !behavior_.ignores_stop; }
  bool IsDone() const {
    return behavior_.total_steps > 0 && position_.step >= behavior_.total_steps;
  }

  void Enter(ProgressPhase phase);
  void MeetOthers();
  void Resume();
  void TrainSteps();
  void Step();
  void Fail();
  void Save();
  int End(TrainerCause cause, const std::string& message);

  const v1::TrainerTask& task_;
  const FakeBehavior& behavior_;
  DaemonLink& link_;
  ProgressPageWriter page_;
  RankPosition position_;
  std::optional<std::int64_t> saved_step_;
  bool is_out_of_memory_ = false;
  TrainReport report_;
};

void FakeRank::Enter(ProgressPhase phase) {
  position_.phase = phase;
  position_.phase_start_unix_nanos = UnixNanos();
  page_.Write(position_);
}

int FakeRank::Run() {
  if (behavior_.is_user_error) {
    return End(TrainerCause::kUserError, "data.path: no such file; so the job's name wants it");
  }
  const StartSignal signal = link_.WaitForStart();
  if (signal == StartSignal::kLeftAlone) return End(TrainerCause::kStartFailed, "nobody said go");
  report_.stopped = signal == StartSignal::kStop;
  if (report_.stopped) return End(TrainerCause::kDrained, "");
  try {
    MeetOthers();
  } catch (const std::exception& error) {
    return End(TrainerCause::kCollectiveFailed, error.what());
  }
  Resume();
  Enter(ProgressPhase::kTraining);
  TrainSteps();
  if (is_out_of_memory_) {
    return End(TrainerCause::kOutOfMemory, "out of memory; so the job's name wants it");
  }
  if (saved_step_ != position_.step) Save();
  return End(report_.stopped ? TrainerCause::kDrained : TrainerCause::kCompleted, "");
}

void FakeRank::MeetOthers() {
  const SteadyClock::time_point deadline = SteadyClock::now() + behavior_.collective_timeout;
  if (task_.world() < 2) return;
  const std::string prefix = "fake/";
  link_.SetKey(prefix + std::to_string(task_.id().rank()), task_.host(), deadline);
  for (std::int64_t rank = 0; rank < task_.world(); ++rank) {
    link_.WaitKey(prefix + std::to_string(rank), deadline);
  }
}

void FakeRank::Resume() {
  if (behavior_.checkpoints.empty()) return;
  const FakeCheckpoint newest = NewestFakeCheckpoint(behavior_.checkpoints);
  if (newest.path.empty()) return;
  position_.step = newest.step;
  saved_step_ = newest.step;
  report_.checkpoint = newest.path;
  link_.SendNote("resumed from " + newest.path);
}

void FakeRank::TrainSteps() {
  const SteadyClock::time_point start = SteadyClock::now();
  report_.first_step = position_.step;
  while (!IsDone() && !report_.stopped && !is_out_of_memory_) {
    Step();
    report_.stopped = IsStopped();
    const std::int64_t interval = behavior_.checkpoint_interval;
    if (interval > 0 && position_.step % interval == 0) Save();
    if (behavior_.fault != FakeFault::kNone && position_.step == behavior_.fault_step) Fail();
  }
  const std::chrono::duration<double> time = SteadyClock::now() - start;
  report_.seconds = time.count();
  const auto steps = static_cast<double>(position_.step - report_.first_step);
  report_.tokens_per_second = time.count() > 0 ? steps * kTokensOfAStep / time.count() : 0;
}

void FakeRank::Step() {
  std::this_thread::sleep_for(behavior_.step_time);
  ++position_.step;
  position_.collective_sequence += 2;
  position_.allocated_bytes = 700'000;
  page_.Write(position_);
  std::cout << "fake_trainer: step " << position_.step << "\n" << std::flush;
  StepReport step = {.step = position_.step,
                     .total_steps = behavior_.total_steps,
                     .loss = FakeLoss(position_.step),
                     .learning_rate = 1e-3,
                     .gradient_norm = 1,
                     .tokens = kTokensOfAStep,
                     .seconds = std::chrono::duration<double>(behavior_.step_time).count()};
  if (step.total_steps > 0) {
    step.progress = static_cast<double>(step.step) / static_cast<double>(step.total_steps);
  }
  if (report_.losses.empty()) step.peak_by_label = FakePeak();
  step.errors = {{.site = "x1", .ratio = 0.09, .worst_layer = 1, .worst_ratio = 0.1}};
  report_.errors = step.errors;
  report_.losses = {step.loss};
  link_.SendStep(step);
}

void FakeRank::Fail() {
  std::cerr << "fake_trainer: fault after step " << position_.step << "\n" << std::flush;
  if (behavior_.fault == FakeFault::kExit) std::_Exit(behavior_.exit_code);
  if (behavior_.fault == FakeFault::kKill) ::raise(SIGKILL);
  is_out_of_memory_ = behavior_.fault == FakeFault::kOutOfMemory;
  while (!is_out_of_memory_) ::pause();
}

void FakeRank::Save() {
  saved_step_ = position_.step;
  if (!is_first() || behavior_.checkpoints.empty()) return;
  const SteadyClock::time_point start = SteadyClock::now();
  Enter(ProgressPhase::kCheckpoint);
  report_.checkpoint = WriteFakeCheckpoint(behavior_.checkpoints, position_.step);
  const std::chrono::duration<double> time = SteadyClock::now() - start;
  link_.SendCheckpoint(report_.checkpoint, position_.step, time.count());
  Enter(ProgressPhase::kTraining);
}

int FakeRank::End(TrainerCause cause, const std::string& message) {
  Enter(ProgressPhase::kEnded);
  if (!message.empty()) std::cerr << "fake_trainer: " << message << "\n" << std::flush;
  report_.steps = position_.step;
  report_.peak_by_label = FakePeak();
  report_.predicted_by_label = FakePeak();
  link_.End({.cause = cause, .report = message.empty() ? &report_ : nullptr, .message = message});
  return ExitCodeOf(cause);
}

}  // namespace

double FakeLoss(std::int64_t step) { return 2 + 3 / (1 + 0.01 * static_cast<double>(step)); }

int RunFakeAttempt(const std::filesystem::path& folder, const v1::TrainerTask& task,
                   const FakeBehavior& behavior) {
  const double grace_ms = task.grace_seconds() * 1000;
  DaemonLink link({.folder = folder,
                   .job_id = task.id().job_id(),
                   .generation = task.id().generation(),
                   .rank = task.id().rank(),
                   .grace = std::chrono::milliseconds(static_cast<std::int64_t>(grace_ms)),
                   .on_stop = [](const std::string& reason) {
                     std::cerr << "fake_trainer: asked to stop: " + reason + "\n" << std::flush;
                   }});
  std::jthread forwarding;
  if (behavior.ignores_stop) {
    ::signal(SIGTERM, SIG_IGN);
  } else {
    forwarding = ForwardStopSignals(link);
  }
  return FakeRank(folder, task, behavior, link).Run();
}

}  // namespace agoq
