#include "worker/daemon/worker_metrics.h"

#include <algorithm>

namespace agoq {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;

constexpr std::size_t kMostEndedJobs = 2;  // that keep their series

#if defined(__clang__)
constexpr char kCompiler[] = "clang " __VERSION__;
#else
constexpr char kCompiler[] = "gcc " __VERSION__;
#endif

}  // namespace

struct WorkerMetrics::DeviceSeries {
  explicit DeviceSeries(prometheus::Registry& registry)
      : info(BuildGauge()
                 .Name("agoq_worker_info")
                 .Help("1; joins a device of this worker with other exporters' series.")
                 .Register(registry)),
        total(BuildGauge()
                  .Name("agoq_device_memory_total_bytes")
                  .Help("Memory of the device.")
                  .Register(registry)),
        free(BuildGauge()
                 .Name("agoq_device_memory_free_bytes")
                 .Help("Memory of the device that nobody uses or was promised.")
                 .Register(registry)),
        foreign(BuildGauge()
                    .Name("agoq_device_memory_foreign_bytes")
                    .Help("Memory of the device that processes other than agoq's use.")
                    .Register(registry)) {}

  prometheus::Family<prometheus::Gauge>& info;
  prometheus::Family<prometheus::Gauge>& total;
  prometheus::Family<prometheus::Gauge>& free;
  prometheus::Family<prometheus::Gauge>& foreign;
};

WorkerMetrics::WorkerMetrics(const WorkerMetricsOptions& options, prometheus::Registry& registry)
    : options_(options),
      families_(registry),
      device_families_(std::make_unique<DeviceSeries>(registry)),
      connected_(BuildGauge()
                     .Name("agoq_coordinator_connected")
                     .Help("1: the session with the coordinator stands.")
                     .Register(registry)
                     .Add({})),
      reconnects_(BuildCounter()
                      .Name("agoq_reconnects_total")
                      .Help("Sessions with the coordinator after the first one.")
                      .Register(registry)
                      .Add({})),
      orphan_seconds_(BuildGauge()
                          .Name("agoq_orphan_seconds")
                          .Help("Time since the coordinator was last connected; 0: it is.")
                          .Register(registry)
                          .Add({})),
      out_of_memory_(BuildCounter()
                         .Name("agoq_oom_total")
                         .Help("Attempts that ended out of memory.")
                         .Register(registry)
                         .Add({})) {
  BuildGauge()
      .Name("agoq_build_info")
      .Help("1; the build of this program.")
      .Register(registry)
      .Add({{"version", options.version}, {"revision", options.revision}, {"compiler", kCompiler}})
      .Set(1);
}

WorkerMetrics::~WorkerMetrics() = default;

void WorkerMetrics::SetDevices(const std::vector<v1::Device>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const v1::Device& device = devices[i];
    const prometheus::Labels index = {{"device", std::to_string(i)}};
    prometheus::Labels info = index;
    info["worker"] = options_.worker;
    info["gpu_uuid"] = device.kind() == v1::Device::KIND_CUDA ? device.uuid() : "";
    info["gpu_model"] = device.kind() == v1::Device::KIND_CUDA ? device.model() : "";
    info["driver"] = device.driver_version();
    device_families_->info.Add(info).Set(1);
    device_families_->total.Add(index).Set(static_cast<double>(device.total_bytes()));
    device_families_->free.Add(index).Set(static_cast<double>(device.free_bytes()));
    device_families_->foreign.Add(index).Set(static_cast<double>(device.foreign_bytes()));
  }
}

void WorkerMetrics::SetConnected(bool is_connected) { connected_.Set(is_connected ? 1 : 0); }
void WorkerMetrics::CountReconnect() { reconnects_.Increment(); }
void WorkerMetrics::SetOrphanSeconds(double seconds) { orphan_seconds_.Set(seconds); }

JobSeries& WorkerMetrics::SeriesOf(const RankLabel& rank) {
  const auto found = jobs_.find(rank);
  if (found != jobs_.end()) return found->second.series;
  return jobs_.emplace(rank, Job{JobSeries(families_, rank), std::nullopt}).first->second.series;
}

void WorkerMetrics::BeginAttempt(const RankLabel& rank, const RankFigures& figures) {
  const std::lock_guard lock(mutex_);
  SeriesOf(rank).Begin(figures);
  jobs_.at(rank).ended.reset();
}

void WorkerMetrics::AddStep(const RankLabel& rank, const v1::TrainerStep& step) {
  const std::lock_guard lock(mutex_);
  SeriesOf(rank).AddStep(step);
}

void WorkerMetrics::AddCheckpoint(const RankLabel& rank, double seconds, Clock::Wall at) {
  const std::lock_guard lock(mutex_);
  SeriesOf(rank).AddCheckpoint(seconds, at);
}

void WorkerMetrics::EndAttempt(const RankLabel& rank, v1::AttemptCause cause, Clock::Steady now) {
  if (cause == v1::ATTEMPT_CAUSE_OOM) out_of_memory_.Increment();
  {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(rank);
    if (found == jobs_.end()) return;
    found->second.ended = now;
  }
  Expire(now);
}

void WorkerMetrics::Expire(Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [&](const auto& entry) {
    return entry.second.ended && now - *entry.second.ended >= options_.series_life;
  });
  const auto is_older = [](const auto& a, const auto& b) {
    if (!a.second.ended || !b.second.ended) return a.second.ended.has_value();
    return *a.second.ended < *b.second.ended;
  };
  auto num_ended = static_cast<std::size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [](const auto& entry) { return entry.second.ended; }));
  for (; num_ended > kMostEndedJobs; --num_ended) {
    jobs_.erase(std::min_element(jobs_.begin(), jobs_.end(), is_older));
  }
}

}  // namespace agoq
