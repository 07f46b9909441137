// Processes that end when a test says so.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>

#include "tests/unit/daemon/awaited_queue.h"
#include "worker/daemon/trainer_process.h"

namespace agoq {

// What becomes of one process; shared by the test and the code under test. Thread-safe.
class ScriptedFate {
 public:
  void End(ProcessEnd end) {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = end;
    changed_.notify_all();
  }
  void Kill() {
    const std::lock_guard lock(mutex_);
    is_killed_ = true;
    if (!end_ && !is_unkillable_) end_ = ProcessEnd{.exit_code = -1, .signal = 9};
    changed_.notify_all();
  }
  void MakeUnkillable() {
    const std::lock_guard lock(mutex_);
    is_unkillable_ = true;
  }
  bool AwaitKill() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, [this] { return is_killed_; });
  }
  bool is_killed() {
    const std::lock_guard lock(mutex_);
    return is_killed_;
  }
  std::optional<ProcessEnd> Wait(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return end_.has_value(); });
    return end_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ProcessEnd> end_;
  bool is_killed_ = false;
  bool is_unkillable_ = false;
};

class ScriptedProcess : public TrainerProcess {
 public:
  ScriptedProcess(ProcessIdentity identity, std::shared_ptr<ScriptedFate> fate)
      : identity_(identity), fate_(std::move(fate)) {}
  ProcessIdentity identity() const override { return identity_; }
  std::optional<ProcessEnd> WaitForEnd(std::chrono::milliseconds timeout) override {
    return fate_->Wait(timeout);
  }
  void KillGroup() override { fate_->Kill(); }

 private:
  const ProcessIdentity identity_;
  const std::shared_ptr<ScriptedFate> fate_;
};

struct SpawnedProcess {
  SpawnRequest request;
  ProcessIdentity identity;
  std::shared_ptr<ScriptedFate> fate;
};

class ScriptedProcesses : public ProcessTable {
 public:
  absl::StatusOr<std::unique_ptr<TrainerProcess>> Spawn(const SpawnRequest& request) override {
    if (!spawn_error_.ok()) return spawn_error_;
    SpawnedProcess spawned = {request, {.pid = next_pid_, .start_time = 7}, NewProcess(next_pid_)};
    ++next_pid_;
    spawned_.Put(spawned);
    return std::make_unique<ScriptedProcess>(spawned.identity, spawned.fate);
  }
  absl::StatusOr<std::unique_ptr<TrainerProcess>> Adopt(const ProcessIdentity& identity) override {
    const std::lock_guard lock(mutex_);
    const auto found = living_.find(identity.pid);
    if (found == living_.end()) return absl::NotFoundError("gone");
    return std::make_unique<ScriptedProcess>(identity, found->second);
  }

  // Before anything else runs.
  void FailSpawns(absl::Status error) { spawn_error_ = std::move(error); }
  // A process that Adopt finds.
  std::shared_ptr<ScriptedFate> NewProcess(pid_t pid) {
    const std::lock_guard lock(mutex_);
    return living_[pid] = std::make_shared<ScriptedFate>();
  }
  AwaitedQueue<SpawnedProcess>& spawned() { return spawned_; }

 private:
  absl::Status spawn_error_;
  AwaitedQueue<SpawnedProcess> spawned_;
  std::mutex mutex_;
  pid_t next_pid_ = 4'000'001;  // past what a kernel gives by default
  std::map<pid_t, std::shared_ptr<ScriptedFate>> living_;
};

}  // namespace agoq
