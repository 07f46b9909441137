// Tells of stored changes: to watchers, metrics and the log.
#pragma once

#include "proto/common/clock.h"
#include "proto/common/log.h"
#include "server/job_table.h"
#include "server/metrics.h"
#include "server/watch_hub.h"

namespace agoq {

class Announcer : public JobObserver {
 public:
  // All outlive it.
  Announcer(CoordinatorMetrics& metrics, WatchHub& watchers, const Log& log)
      : metrics_(metrics), watchers_(watchers), log_(log) {}

  void OnChange(const v1::Job& job, const v1::Event& event) override;
  void OnStoreError(const absl::Status& status) override;

 private:
  void Count(const v1::Job& job, const v1::Event& event);

  CoordinatorMetrics& metrics_;
  WatchHub& watchers_;
  const Log& log_;
};

// What a watcher needs once it has the first snapshot.
v1::Job WithoutSpecAndPlan(v1::Job job);

}  // namespace agoq
