#include "tests/support/simulated_worker.h"

#include <algorithm>

namespace agoq {

v1::Device SimulatedWorker::ItsDevice() const {
  v1::Device device;
  device.set_kind(v1::Device::KIND_CPU);
  device.set_total_bytes(memory_bytes_);
  device.set_free_bytes(memory_bytes_);
  return device;
}

v1::Hello SimulatedWorker::Hello() const {
  v1::Hello hello;
  hello.set_worker(name_);
  hello.set_incarnation(std::to_string(incarnation_));
  *hello.add_devices() = ItsDevice();
  for (const auto& [key, task] : tasks_) *hello.add_tasks() = task;
  return hello;
}

void SimulatedWorker::Reboot() {
  Restart();
  for (auto& [key, task] : tasks_) {
    if (task.state() != v1::TaskStatus::STATE_EXITED) End(&task, v1::ATTEMPT_CAUSE_RANK_EXIT);
  }
}

void SimulatedWorker::Adopt(const v1::Welcome& welcome) {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const bool goes_on = std::any_of(
        welcome.adopt().begin(), welcome.adopt().end(),
        [&](const v1::RankId& id) { return Key(id.job_id(), id.generation()) == task->first; });
    if (!goes_on) {
      std::int64_t& newest = forgotten_[task->first.first];
      newest = std::max(newest, task->first.second);
    }
    task = goes_on ? std::next(task) : tasks_.erase(task);
  }
}

void SimulatedWorker::Tell(const v1::TaskStatus& status) {
  *outbox_.emplace_back().mutable_task_status() = status;
}

void SimulatedWorker::End(v1::TaskStatus* task, v1::AttemptCause cause) {
  task->set_state(v1::TaskStatus::STATE_EXITED);
  task->set_cause(cause);
  task->set_at_unix_nanos(++heartbeats_);
  Tell(*task);
}

void SimulatedWorker::Prepare(const v1::RankId& id) {
  const Key key(id.job_id(), id.generation());
  if (forgotten_[id.job_id()] >= id.generation()) return;
  const auto [task, is_new] = tasks_.try_emplace(key);
  if (is_new) {
    *task->second.mutable_id() = id;
    task->second.set_state(v1::TaskStatus::STATE_PREPARED);
  }
  Tell(task->second);
}

void SimulatedWorker::Handle(const v1::CoordinatorMessage& message) {
  const auto find = [&](const v1::RankId& id) -> v1::TaskStatus* {
    const auto task = tasks_.find({id.job_id(), id.generation()});
    if (task != tasks_.end()) return &task->second;
    // A Prepare that is still on its way must not bring it to life.
    std::int64_t& newest = forgotten_[id.job_id()];
    newest = std::max(newest, id.generation());
    v1::TaskStatus unknown;
    *unknown.mutable_id() = id;
    unknown.set_state(v1::TaskStatus::STATE_EXITED);
    unknown.set_cause(v1::ATTEMPT_CAUSE_START_FAILED);
    Tell(unknown);
    return nullptr;
  };
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      return Adopt(message.welcome());
    case v1::CoordinatorMessage::kProfile: {
      v1::ProfileResult& result = *outbox_.emplace_back().mutable_profile_result();
      *result.mutable_id() = message.profile().id();
      *result.add_devices() = ItsDevice();
      result.set_usable_bytes(memory_bytes_);
      return;
    }
    case v1::CoordinatorMessage::kPrepare:
      return Prepare(message.prepare().id());
    case v1::CoordinatorMessage::kStart: {
      v1::TaskStatus* const task = find(message.start().id());
      if (task == nullptr) return;
      if (task->state() == v1::TaskStatus::STATE_PREPARED) {
        task->set_state(v1::TaskStatus::STATE_RUNNING);
      }
      return Tell(*task);
    }
    case v1::CoordinatorMessage::kDrain:
    case v1::CoordinatorMessage::kAbort: {
      const bool kills = message.has_abort();
      v1::TaskStatus* const task = find(kills ? message.abort().id() : message.drain().id());
      if (task == nullptr) return;
      if (task->state() == v1::TaskStatus::STATE_EXITED) return Tell(*task);
      return End(task, kills ? v1::ATTEMPT_CAUSE_RANK_EXIT : v1::ATTEMPT_CAUSE_DRAINED);
    }
    case v1::CoordinatorMessage::kForget: {
      const v1::RankId& id = message.forget().id();
      tasks_.erase({id.job_id(), id.generation()});
      std::int64_t& newest = forgotten_[id.job_id()];
      newest = std::max(newest, id.generation());
      return;
    }
    default:
      return;
  }
}

void SimulatedWorker::Report() {
  v1::Heartbeat& heartbeat = *outbox_.emplace_back().mutable_heartbeat();
  heartbeat.set_sequence(++heartbeats_);
  *heartbeat.add_devices() = ItsDevice();
  for (const auto& [key, task] : tasks_) {
    if (task.state() == v1::TaskStatus::STATE_EXITED) Tell(task);
  }
}

void SimulatedWorker::Live(std::mt19937& random) {
  for (auto& [key, task] : tasks_) {
    if (task.state() != v1::TaskStatus::STATE_RUNNING) continue;
    const auto chance = random() % 100;
    if (chance < 30) {
      End(&task, v1::ATTEMPT_CAUSE_COMPLETED);
    } else if (chance < 42) {
      End(&task, v1::ATTEMPT_CAUSE_RANK_EXIT);
    } else if (chance < 52) {
      v1::TaskStatus saved = task;
      saved.set_state(v1::TaskStatus::STATE_CHECKPOINTED);
      saved.set_checkpoint("step");
      saved.set_checkpoint_step(++heartbeats_);
      Tell(saved);
    }
  }
}

}  // namespace agoq
