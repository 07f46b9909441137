// A worker daemon as the coordinator sees it, without processes: keeps ranks, answers commands, and
// lets chance end them. What it sends goes to an outbox.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"

namespace agoq {

class SimulatedWorker {
 public:
  explicit SimulatedWorker(std::string name, std::int64_t memory_bytes)
      : name_(std::move(name)), memory_bytes_(memory_bytes) {}

  // Job and generation.
  using Key = std::pair<std::string, std::int64_t>;

  v1::Hello Hello() const;
  // The daemon starts again: its trainers went on.
  void Restart() { ++incarnation_; }
  // The machine starts again: no trainer is left.
  void Reboot();
  void Adopt(const v1::Welcome& welcome);
  void Handle(const v1::CoordinatorMessage& message);
  // A heartbeat, and what was not taken yet again.
  void Report();
  // Something happens to a rank that trains.
  void Live(std::mt19937& random);

  std::vector<v1::WorkerMessage> TakeOutbox() { return std::exchange(outbox_, {}); }
  const std::map<Key, v1::TaskStatus>& tasks() const { return tasks_; }
  const std::string& name() const { return name_; }

 private:
  v1::Device ItsDevice() const;
  void Tell(const v1::TaskStatus& status);
  void Prepare(const v1::RankId& id);
  void End(v1::TaskStatus* task, v1::AttemptCause cause);

  const std::string name_;
  const std::int64_t memory_bytes_;
  std::int64_t incarnation_ = 0;
  std::int64_t heartbeats_ = 0;
  std::map<Key, v1::TaskStatus> tasks_;
  std::map<std::string, std::int64_t> forgotten_;  // newest generation, by job
  std::vector<v1::WorkerMessage> outbox_;
};

}  // namespace agoq
