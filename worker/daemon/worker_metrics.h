// The worker's Prometheus metrics.
#pragma once

#include <absl/base/thread_annotations.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/agoq/v1/worker_service.pb.h"
#include "proto/common/clock.h"
#include "worker/daemon/job_series.h"
#include "worker/daemon/rank_figures.h"

namespace agoq {

struct WorkerMetricsOptions {
  std::string worker;                              // its name
  std::string version;                             // of the program
  std::string revision;                            // of its sources
  std::chrono::duration<double> series_life{600};  // of a job's series after its attempt
};

// Thread-safe. A job's series go `series_life` after its attempt ended, or when two newer attempts
// have ended since: their number is bounded whatever the rate of jobs.
class WorkerMetrics {
 public:
  // The registry outlives it.
  WorkerMetrics(const WorkerMetricsOptions& options, prometheus::Registry& registry);
  ~WorkerMetrics();

  void SetDevices(const std::vector<v1::Device>& devices);
  void SetConnected(bool is_connected);
  void CountReconnect();
  // Seconds since the coordinator was last connected; 0: it is.
  void SetOrphanSeconds(double seconds);

  void BeginAttempt(const RankLabel& rank, const RankFigures& figures);
  void AddStep(const RankLabel& rank, const v1::TrainerStep& step);
  void AddCheckpoint(const RankLabel& rank, double seconds, Clock::Wall at);
  void EndAttempt(const RankLabel& rank, v1::AttemptCause cause, Clock::Steady now);
  // Drops the series whose time is over.
  void Expire(Clock::Steady now);

 private:
  struct DeviceSeries;
  struct Job {
    JobSeries series;
    std::optional<Clock::Steady> ended;  // nothing: it runs
  };

  JobSeries& SeriesOf(const RankLabel& rank) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerMetricsOptions options_;
  JobFamilies families_;
  const std::unique_ptr<DeviceSeries> device_families_;
  prometheus::Gauge& connected_;
  prometheus::Counter& reconnects_;
  prometheus::Gauge& orphan_seconds_;
  prometheus::Counter& out_of_memory_;
  std::mutex mutex_;
  std::map<RankLabel, Job> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace agoq
