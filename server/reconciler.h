// Brings what runs on the workers to what the job table says, and the table to what the workers
// report. It looks at the whole state each time, so that a message that is lost, late or doubled,
// and a restart, change nothing but the time. State thread alone.
//
//   QUEUED --scheduler.h: the gang is reserved--> STARTING --attempt_driver.h--> RUNNING
//   a rank ends early --> RECOVERING --> QUEUED (next attempt) or FAILED
#pragma once

#include <string>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"
#include "server/attempt_driver.h"
#include "server/cluster.h"
#include "server/scheduler.h"

namespace agoq {

class Reconciler {
 public:
  explicit Reconciler(const Cluster& cluster)
      : cluster_(cluster), scheduler_(cluster_), driver_(cluster_) {}

  // After JobTable::Load: takes over what runs.
  void Begin();

  // A worker that joined; the ranks that go on there. The others of `hello` are to be stopped.
  std::vector<v1::RankId> OnHello(const v1::Hello& hello);
  void OnTaskStatus(const std::string& worker, const v1::TaskStatus& status);
  void OnProfile(const std::string& worker, const v1::ProfileResult& result);
  void OnHeartbeat(const std::string& worker, const v1::Heartbeat& heartbeat);
  void OnTick();
  // A user changed the job.
  void OnJobChanged(const std::string& job_id);

  // With what only memory knows: progress, place in the queue, conditions, what it waits for.
  v1::Job Present(const v1::Job& job) const;

 private:
  // Null: not a rank of a newest attempt that is placed on that worker.
  RankView* FindRank(const std::string& worker, const v1::RankId& id);
  void Take(const v1::TaskStatus& status, RankView* rank);
  void RecordCheckpoint(const v1::TaskStatus& status);
  void SendForget(const std::string& worker, const v1::RankId& id);
  void EndRanksThatAreMissing(const v1::Hello& hello);
  void JudgeWorkers();
  bool IsLost(const WorkerEntry& worker) const;
  v1::JobProgress ProgressOf(const AttemptView& view) const;

  Cluster cluster_;
  Scheduler scheduler_;
  AttemptDriver driver_;
};

}  // namespace agoq
