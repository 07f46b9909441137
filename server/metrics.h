// What the coordinator exports to Prometheus. Thread-safe; label values come from closed sets.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <map>
#include <string>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/agoq/v1/worker_service.pb.h"

namespace agoq {

class CoordinatorMetrics {
 public:
  explicit CoordinatorMetrics(prometheus::Registry& registry);

  // Observations.
  void OnSubmitted();
  void OnFinished(const v1::JobStatus& status);
  void OnAttemptEnded(v1::AttemptCause cause);
  void OnCheckpoint();
  void OnCommit(double seconds);
  void OnStoreError();
  void OnRpc(const std::string& service, const std::string& method, const std::string& code,
             double seconds);
  void OnScheduled(double seconds);
  void OnQueueWait(double seconds);
  void OnLeaseExpired();

  // The state of this moment.
  struct Snapshot {
    std::map<v1::JobState, std::int64_t> jobs;
    std::map<v1::WorkerState, std::int64_t> workers;
    std::int64_t sessions = 0;
    std::int64_t epoch = 0;
    std::int64_t last_event = 0;
    std::int64_t database_bytes = 0;
  };
  void Set(const Snapshot& snapshot);

 private:
  template <typename Kind>
  using Family = prometheus::Family<Kind>;

  Family<prometheus::Gauge>& jobs_;
  Family<prometheus::Gauge>& workers_;
  prometheus::Gauge& sessions_;
  prometheus::Gauge& epoch_;
  prometheus::Gauge& is_leader_;
  prometheus::Gauge& queue_depth_;
  prometheus::Gauge& last_event_;
  prometheus::Gauge& database_bytes_;
  prometheus::Counter& submitted_;
  Family<prometheus::Counter>& finished_;
  Family<prometheus::Counter>& attempts_;
  prometheus::Counter& checkpoints_;
  prometheus::Counter& store_errors_;
  prometheus::Counter& leases_;
  prometheus::Histogram& commit_seconds_;
  prometheus::Histogram& schedule_seconds_;
  prometheus::Histogram& queue_wait_seconds_;
  Family<prometheus::Counter>& rpcs_;
  Family<prometheus::Histogram>& rpc_seconds_;
};

// A word of an enum without its prefix, in lower case: JOB_STATE_QUEUED of "JOB_STATE_" is queued.
std::string MetricWord(const std::string& name, const std::string& prefix);

}  // namespace agoq
