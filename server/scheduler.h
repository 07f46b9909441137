// Gives queued jobs their workers, in the order of submission: the whole gang in one transaction,
// with a new generation, or nothing. State thread alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/cluster.h"

namespace agoq {

class Scheduler {
 public:
  // `cluster` outlives it.
  explicit Scheduler(Cluster& cluster) : cluster_(cluster) {}

  void Run();
  // What a queued job waits for, with this moment's numbers; empty: nothing is known.
  std::string WaitingFor(const std::string& job_id) const;

 private:
  // False: it waits, and so do those behind it.
  bool TryToPlace(const v1::Job& job, std::vector<WorkerOffer>* offers);
  void Reserve(v1::Job job, const std::vector<v1::Placement>& placements);
  void Wait(const v1::Job& job, v1::JobReason reason, const std::string& message);

  Cluster& cluster_;
  std::map<std::string, std::string> waiting_;  // message by queued job
};

// What a job asks of each of its workers.
GangNeed NeedOf(const v1::JobSpec& spec, GangPlanner& planner);

}  // namespace agoq
