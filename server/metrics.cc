#include "server/metrics.h"

#include <absl/strings/ascii.h>
#include <absl/strings/strip.h>

#include "proto/common/version.h"

namespace agoq {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using Buckets = prometheus::Histogram::BucketBoundaries;

constexpr char kQueue[] = "default";  // there is one queue in this version

const Buckets kCommitBuckets = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1};
const Buckets kRpcBuckets = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 10};
const Buckets kQueueBuckets = {1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400};

prometheus::Gauge& NewGauge(prometheus::Registry& registry, const char* name, const char* help) {
  return BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Counter& NewCounter(prometheus::Registry& registry, const char* name,
                                const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Histogram& NewHistogram(prometheus::Registry& registry, const char* name,
                                    const char* help, const Buckets& buckets,
                                    const prometheus::Labels& labels = {}) {
  return BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, buckets);
}

template <typename State>
void SetCounts(prometheus::Family<prometheus::Gauge>& family, const std::string& prefix,
               const google::protobuf::EnumDescriptor& states,
               const std::map<State, std::int64_t>& counts) {
  for (int i = 0; i < states.value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor& value = *states.value(i);
    if (value.number() == 0) continue;
    const auto count = counts.find(static_cast<State>(value.number()));
    family.Add({{"state", MetricWord(value.name(), prefix)}})
        .Set(count == counts.end() ? 0 : static_cast<double>(count->second));
  }
}

}  // namespace

std::string MetricWord(const std::string& name, const std::string& prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

CoordinatorMetrics::CoordinatorMetrics(prometheus::Registry& registry)
    : jobs_(BuildGauge().Name("agoq_jobs").Help("Jobs by state.").Register(registry)),
      workers_(BuildGauge().Name("agoq_workers").Help("Workers by state.").Register(registry)),
      sessions_(NewGauge(registry, "agoq_worker_sessions", "Workers that are connected.")),
      epoch_(NewGauge(registry, "agoq_epoch", "Grows with each start on the same database.")),
      is_leader_(NewGauge(registry, "agoq_is_leader", "1: this coordinator may write.")),
      queue_depth_(BuildGauge()
                       .Name("agoq_queue_depth")
                       .Help("Jobs that wait.")
                       .Register(registry)
                       .Add({{"queue", kQueue}})),
      last_event_(NewGauge(registry, "agoq_event_sequence", "Number of the newest event.")),
      database_bytes_(NewGauge(registry, "agoq_db_size_bytes", "Size of the database file.")),
      submitted_(NewCounter(registry, "agoq_jobs_submitted_total", "Jobs accepted.")),
      finished_(BuildCounter()
                    .Name("agoq_jobs_finished_total")
                    .Help("Jobs that reached their end.")
                    .Register(registry)),
      attempts_(BuildCounter()
                    .Name("agoq_attempts_total")
                    .Help("Attempts that ended, by cause.")
                    .Register(registry)),
      checkpoints_(NewCounter(registry, "agoq_checkpoints_committed_total",
                              "Checkpoints that were recorded.")),
      store_errors_(NewCounter(registry, "agoq_db_errors_total", "Transactions that failed.")),
      leases_(NewCounter(registry, "agoq_lease_expirations_total", "Workers that fell silent.")),
      commit_seconds_(NewHistogram(registry, "agoq_db_commit_seconds",
                                   "Time of a durable transaction.", kCommitBuckets)),
      schedule_seconds_(NewHistogram(registry, "agoq_schedule_cycle_seconds",
                                     "Time of one look at all jobs and workers.", kRpcBuckets)),
      queue_wait_seconds_(NewHistogram(registry, "agoq_queue_wait_seconds",
                                       "Time from submission to the first reservation.",
                                       kQueueBuckets, {{"queue", kQueue}})),
      rpcs_(BuildCounter()
                .Name("agoq_rpc_handled_total")
                .Help("Calls by service, method and status code.")
                .Register(registry)),
      rpc_seconds_(BuildHistogram()
                       .Name("agoq_rpc_handling_seconds")
                       .Help("Time of a call, streams excepted.")
                       .Register(registry)) {
  BuildGauge()
      .Name("agoq_build_info")
      .Help("1, with the build as labels.")
      .Register(registry)
      .Add({{"version", Version()}, {"revision", Revision()}, {"compiler", __VERSION__}})
      .Set(1);
  is_leader_.Set(1);
}

void CoordinatorMetrics::OnSubmitted() { submitted_.Increment(); }

void CoordinatorMetrics::OnFinished(const v1::JobStatus& status) {
  finished_
      .Add({{"outcome", MetricWord(v1::JobState_Name(status.state()), "JOB_STATE_")},
            {"reason", MetricWord(v1::JobReason_Name(status.reason()), "JOB_REASON_")}})
      .Increment();
}

void CoordinatorMetrics::OnAttemptEnded(v1::AttemptCause cause) {
  attempts_.Add({{"cause", MetricWord(v1::AttemptCause_Name(cause), "ATTEMPT_CAUSE_")}})
      .Increment();
}

void CoordinatorMetrics::OnCheckpoint() { checkpoints_.Increment(); }
void CoordinatorMetrics::OnCommit(double seconds) { commit_seconds_.Observe(seconds); }
void CoordinatorMetrics::OnStoreError() { store_errors_.Increment(); }
void CoordinatorMetrics::OnScheduled(double seconds) { schedule_seconds_.Observe(seconds); }
void CoordinatorMetrics::OnQueueWait(double seconds) { queue_wait_seconds_.Observe(seconds); }
void CoordinatorMetrics::OnLeaseExpired() { leases_.Increment(); }

void CoordinatorMetrics::OnRpc(const std::string& service, const std::string& method,
                               const std::string& code, double seconds) {
  rpcs_.Add({{"service", service}, {"method", method}, {"code", code}}).Increment();
  rpc_seconds_.Add({{"service", service}, {"method", method}}, kRpcBuckets).Observe(seconds);
}

void CoordinatorMetrics::Set(const Snapshot& snapshot) {
  SetCounts(jobs_, "JOB_STATE_", *v1::JobState_descriptor(), snapshot.jobs);
  SetCounts(workers_, "WORKER_STATE_", *v1::WorkerState_descriptor(), snapshot.workers);
  sessions_.Set(static_cast<double>(snapshot.sessions));
  epoch_.Set(static_cast<double>(snapshot.epoch));
  last_event_.Set(static_cast<double>(snapshot.last_event));
  database_bytes_.Set(static_cast<double>(snapshot.database_bytes));
  const auto queued = snapshot.jobs.find(v1::JOB_STATE_QUEUED);
  queue_depth_.Set(queued == snapshot.jobs.end() ? 0 : static_cast<double>(queued->second));
}

}  // namespace agoq
