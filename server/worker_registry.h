// The workers that have a session, had one, or are expected to have one again. State thread alone;
// links may be used from any thread.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/agoq/v1/worker_service.pb.h"
#include "proto/common/clock.h"
#include "server/placement.h"

namespace agoq {

// The way to a worker with a session.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  // Queued; lost if the session ends.
  virtual void Send(const v1::CoordinatorMessage& message) = 0;
  virtual void Close(const absl::Status& status) = 0;
};

// What a worker is promised to.
struct Hold {
  std::string job_id;
  std::int64_t generation = 0;
  std::int64_t rank = 0;
  bool trains = false;
};

struct WorkerEntry {
  v1::Hello hello;                   // without tasks
  std::vector<v1::Device> devices;   // of the last heartbeat
  std::string problem;               // of the last heartbeat; empty: healthy
  std::shared_ptr<WorkerLink> link;  // null: no session
  Clock::Steady heard;
  Clock::Wall heard_at;
  Clock::Wall connected_at;
  bool is_lost = false;  // fenced until it says hello
  std::optional<Hold> hold;
};

struct LeaseOptions {
  double lease_seconds = 10;
  double grace_seconds = 30;  // from construction: nobody is lost before
};

class WorkerRegistry {
 public:
  // `clock` outlives it.
  WorkerRegistry(const Clock& clock, std::int64_t epoch, const LeaseOptions& options);

  // ALREADY_EXISTS: a worker of that name is connected and heard of.
  absl::Status Join(const v1::Hello& hello, std::shared_ptr<WorkerLink> link);
  // The session `link` is over; nothing happens if the worker has another one by now.
  void Leave(const std::string& worker, const WorkerLink* link);
  void Heard(const std::string& worker, const v1::Heartbeat& heartbeat);
  // Fresh devices, from a heartbeat or a profile.
  void SetDevices(const std::string& worker, std::vector<v1::Device> devices);

  // It holds a rank; workers that are not known are expected to come.
  void Promise(const std::string& worker, const Hold& hold);
  void Release(const std::string& worker, const std::string& job_id);
  void MarkLost(const std::string& worker);
  // Ends every session.
  void CloseAll(const absl::Status& status);

  // Fills epoch and command id. False: no session.
  bool Send(const std::string& worker, v1::CoordinatorMessage message);

  const WorkerEntry* Find(const std::string& worker) const;
  const std::map<std::string, WorkerEntry>& entries() const { return workers_; }
  bool IsUnreachable(const WorkerEntry& worker) const;
  double SilenceSeconds(const WorkerEntry& worker) const;
  bool IsInGrace() const;
  // Over half of the leases, and at least three, are over: the fault may be the coordinator's own.
  bool IsIsolated() const;

  std::vector<WorkerOffer> Offers() const;
  v1::Worker Describe(const WorkerEntry& worker) const;
  v1::WorkerState StateOf(const WorkerEntry& worker) const;

 private:
  WorkerEntry* FindMutable(const std::string& worker);

  const Clock& clock_;
  const std::int64_t epoch_;
  const LeaseOptions options_;
  const Clock::Steady started_;
  std::map<std::string, WorkerEntry> workers_;  // by name
  std::int64_t last_command_ = 0;
};

}  // namespace agoq
