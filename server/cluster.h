// The state that scheduling and driving share. State thread alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "proto/common/clock.h"
#include "server/gang_planner.h"
#include "server/job_table.h"
#include "server/rank_view.h"
#include "server/rendezvous.h"
#include "server/worker_registry.h"

namespace agoq {

struct ReconcilerOptions {
  double prepare_seconds = 300;
  double backoff_seconds = 5;
  double silence_limit_seconds = 120;
};

struct Cluster {
  // All outlive it.
  JobTable& jobs;
  WorkerRegistry& workers;
  GangPlanner& planner;
  Rendezvous& rendezvous;
  const Clock& clock;
  ReconcilerOptions options;
  std::map<std::string, AttemptView> views = {};  // by job

  // The view of the job's newest attempt; begun anew for a new generation.
  AttemptView& ViewOf(const v1::Job& job);
  double SecondsSince(Clock::Steady then) const;
};

v1::RankId IdOf(const v1::Job& job, std::int64_t rank);

}  // namespace agoq
