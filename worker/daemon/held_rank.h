// One rank that this daemon holds: its folder, its trainer's process and the link to it.
#pragma once

#include <absl/base/thread_annotations.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "proto/common/clock.h"
#include "proto/common/log.h"
#include "worker/daemon/attempt_folder.h"
#include "worker/daemon/inventory.h"
#include "worker/daemon/key_service.h"
#include "worker/daemon/rank_state.h"
#include "worker/daemon/trainer_link.h"
#include "worker/daemon/trainer_process.h"
#include "worker/daemon/worker_metrics.h"

namespace agoq {

// What ranks share. All of it outlives them.
struct RankServices {
  ProcessTable& processes;
  KeyService& keys;
  WorkerMetrics& metrics;
  const Clock& clock;
  const Log& log;
  std::filesystem::path trainer;  // the program
  // From a trainer's last word, or its kill, to the next step if it is still there.
  std::chrono::duration<double> kill_wait{5};
  // Called on each change, on any thread; must not call back.
  std::function<void(const v1::TaskStatus&)> on_status;
  // Called after the end of each rank, an abandoned one too; must not call back.
  std::function<void()> on_end = [] {};
};

struct RankTask {
  AttemptFolder folder;
  v1::TrainerTask task;
  std::int64_t device = 0;
};

// Thread-safe. A rank whose trainer lives when the object goes is left to the next daemon.
class HeldRank {
 public:
  // A new attempt: makes its folder and starts its trainer, on the rank's own thread.
  static std::unique_ptr<HeldRank> Prepare(const RankServices& services, RankTask task,
                                           double prepare_seconds);
  // What an earlier daemon left: a trainer that lives or, with null, one that does not.
  static std::unique_ptr<HeldRank> Adopt(const RankServices& services, RankTask task,
                                         std::unique_ptr<TrainerProcess> process);
  // The same, with an end that the earlier daemon saw.
  static std::unique_ptr<HeldRank> Ended(const RankServices& services, RankTask task,
                                         const v1::TaskStatus& exit);
  ~HeldRank();

  // Commands, as RankState has them.
  void Start();
  void Drain(double deadline_seconds, const std::string& reason);
  void Abort(const std::string& reason);
  // Drain; a stop that follows counts as COORDINATOR_ORPHAN.
  void DrainAsOrphan(double deadline_seconds, const std::string& reason);
  // Abort; from now on its status is told to nobody.
  void Abandon(const std::string& reason);
  // Tells the status again.
  void Repeat() const;

  const v1::RankId& id() const { return task_.id(); }
  const AttemptFolder& folder() const { return folder_; }
  v1::TaskStatus status() const;
  bool has_exited() const;
  bool is_abandoned() const;
  v1::RankProgress Progress() const;
  // Nothing: it has exited.
  std::optional<HeldMemory> Memory() const;
  // About a trainer that cannot be ended, with its process id. Empty: none.
  std::string problem() const;

 private:
  HeldRank(const RankServices& services, RankTask task);

  void Run(std::stop_token stop);
  absl::Status Launch();
  void Connect();
  std::optional<ProcessEnd> Watch(std::stop_token stop);
  void NoteStuck();
  void Finish(const std::optional<ProcessEnd>& process);

  void Take(TrainerLink& link, const v1::FromTrainer& message);
  Reaction TakeIntoState(const v1::FromTrainer& message);
  void TakeIntoMetrics(const v1::FromTrainer& message);
  void RelayKey(TrainerLink& link, const v1::FromTrainer& message);

  // Runs a command of RankState, then does what follows.
  template <typename Command>
  void Execute(const Command& command);
  void Tell(const v1::TaskStatus& status) const;
  Moment Now() const;
  LogFields Fields() const;

  const RankServices services_;
  const AttemptFolder folder_;
  const v1::TrainerTask task_;
  const std::int64_t device_;
  const RankLabel label_;
  std::unique_ptr<TrainerProcess> process_;  // of the rank's thread

  mutable std::mutex mutex_;
  RankState state_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<TrainerLink> link_ ABSL_GUARDED_BY(mutex_);
  pid_t pid_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  std::string problem_ ABSL_GUARDED_BY(mutex_);

  bool is_new_ = false;
  std::jthread thread_;
};

}  // namespace agoq
