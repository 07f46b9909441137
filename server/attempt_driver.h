// Drives the newest attempt of one job a step on, from what the table says and what its workers
// reported. Level-triggered: called again, it does again what had no effect. State thread alone.
//
//   RESERVED: profile each worker, plan   PREPARING: start trainers   RUNNING: go
//   STOPPING: end every rank              then ENDED: release workers, decide what follows
#pragma once

#include <cstdint>
#include <string>

#include "server/cluster.h"

namespace agoq {

class AttemptDriver {
 public:
  // `cluster` outlives it.
  explicit AttemptDriver(Cluster& cluster) : cluster_(cluster) {}

  void Drive(const std::string& job_id);

 private:
  void DriveReserved(const v1::Job& job, AttemptView& view);
  void MakePlan(const v1::Job& job, const AttemptView& view);
  void ReleaseUnplanned(v1::Job job, const std::string& message);
  void DrivePreparing(const v1::Job& job, AttemptView& view);
  void DriveRunning(const v1::Job& job, AttemptView& view);

  // In attempt_ending.cc.
  void DriveRecovering(const v1::Job& job, AttemptView& view);
  void DriveStopping(const v1::Job& job, AttemptView& view);
  void Recover(v1::Job job, AttemptView& view, v1::AttemptCause cause, std::int64_t rank,
               const std::string& message);
  void RecoverFromEnds(const v1::Job& job, AttemptView& view);
  void Succeed(v1::Job job, const AttemptView& view);
  void EndAfterFault(v1::Job job, const AttemptView& view);
  void EndAfterStop(v1::Job job, const AttemptView& view);
  // Stores the end, then lets go of workers, keys and the trainers' folders.
  void EndAttempt(v1::Job job, const Change& change);
  void EndRanksOfLostWorkers(const v1::Job& job, AttemptView& view);
  void StopRanks(const v1::Job& job, AttemptView& view, bool kills, const std::string& reason);

  void SendDue(const v1::Placement& placement, RankView& rank, v1::CoordinatorMessage message);

  Cluster& cluster_;
};

}  // namespace agoq
