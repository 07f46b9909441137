// A supervisor with scripted processes, and what it tells.
#pragma once

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/daemon/moved_clock.h"
#include "tests/unit/daemon/scripted_processes.h"
#include "tests/unit/daemon/scripted_trainer.h"
#include "worker/daemon/supervisor.h"

namespace agoq {

struct AskedKey {
  v1::RankId id;
  std::string key;
  KeyService::Answer answer;
};

class ScriptedKeys : public KeyService {
 public:
  void Set(const v1::RankId& id, const v1::KeySet& request, Answer answer) override {
    asked.Put({id, request.key(), std::move(answer)});
  }
  void Wait(const v1::RankId& id, const v1::KeyWait& request, Answer answer) override {
    asked.Put({id, request.key(), std::move(answer)});
  }
  AwaitedQueue<AskedKey> asked;
};

inline v1::RankId Rank(const std::string& job, std::int64_t generation, std::int64_t rank = 0) {
  v1::RankId id;
  id.set_job_id(job);
  id.set_generation(generation);
  id.set_rank(rank);
  return id;
}

inline v1::Prepare PrepareOf(const v1::RankId& id) {
  v1::Prepare prepare;
  *prepare.mutable_id() = id;
  prepare.set_world(1);
  prepare.mutable_spec()->set_name("demo");
  prepare.set_budget_bytes(1000);
  prepare.set_timeout_seconds(60);
  return prepare;
}

class SupervisorFixture : public testing::Test {
 protected:
  static constexpr double kDrainSeconds = 100;
  static constexpr double kKillSeconds = 5;

  SupervisorFixture() { Restart(); }

  // A new daemon, in the same state directory.
  void Restart() {
    supervisor_.reset();
    supervisor_ = std::make_unique<Supervisor>(
        SupervisorOptions{.attempts = attempts(),
                          .host = "host",
                          .device_kind = v1::Device::KIND_CUDA,
                          .trainer_grace_seconds = 30,
                          .drain_seconds = kDrainSeconds},
        RankServices{.processes = processes_,
                     .keys = keys_,
                     .metrics = metrics_,
                     .clock = clock_,
                     .log = log_,
                     .trainer = "/bin/agoq-trainer",
                     .kill_wait = std::chrono::duration<double>(kKillSeconds),
                     .on_status = [this](const v1::TaskStatus& status) { told_.Put(status); }});
  }

  std::filesystem::path attempts() const { return folder_.path() / "attempts"; }
  AttemptFolder FolderOf(const v1::RankId& id) const {
    return AttemptFolder(attempts() / AttemptName(id));
  }

  v1::TaskStatus AwaitState(v1::TaskStatus::State state) {
    return told_.TakeFirst([&](const auto& status) { return status.state() == state; })
        .value_or(v1::TaskStatus());
  }
  v1::TaskStatus AwaitExit() { return AwaitState(v1::TaskStatus::STATE_EXITED); }

  // Prepared, with a trainer that the test plays.
  std::shared_ptr<ScriptedFate> PrepareRank(const v1::RankId& id) {
    EXPECT_EQ(supervisor_->Prepare(PrepareOf(id)), "");
    const std::optional<SpawnedProcess> spawned = processes_.spawned().Take();
    if (!spawned) return nullptr;
    trainer_ = std::make_unique<ScriptedTrainer>(FolderOf(id).path());
    EXPECT_TRUE(trainer_->Connect(/*is_started=*/false));
    EXPECT_EQ(AwaitState(v1::TaskStatus::STATE_PREPARED).id().job_id(), id.job_id());
    return spawned->fate;
  }
  std::shared_ptr<ScriptedFate> StartRank(const v1::RankId& id) {
    std::shared_ptr<ScriptedFate> fate = PrepareRank(id);
    supervisor_->Start(id);
    EXPECT_TRUE(trainer_->Receive().has_start());
    AwaitState(v1::TaskStatus::STATE_RUNNING);
    return fate;
  }

  TemporaryFolder folder_;
  MovedClock clock_;
  Log log_{"test", "error"};
  prometheus::Registry registry_;
  WorkerMetrics metrics_{{.worker = "w", .version = "0"}, registry_};
  ScriptedKeys keys_;
  ScriptedProcesses processes_;
  AwaitedQueue<v1::TaskStatus> told_;
  std::unique_ptr<ScriptedTrainer> trainer_;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace agoq
