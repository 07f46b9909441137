// The series of one rank of one job.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/clock.h"
#include "worker/daemon/metric_series.h"
#include "worker/daemon/rank_figures.h"

namespace agoq {

struct RankLabel {
  std::string training_job;  // the job's name
  std::int64_t rank = 0;

  friend auto operator<=>(const RankLabel&, const RankLabel&) = default;
};

// Registers every family once.
struct JobFamilies {
  explicit JobFamilies(prometheus::Registry& registry);

  prometheus::Family<prometheus::Gauge>& memory_planned;
  prometheus::Family<prometheus::Gauge>& memory_used;
  prometheus::Family<prometheus::Gauge>& activation_layers;
  prometheus::Family<prometheus::Gauge>& step;
  prometheus::Family<prometheus::Counter>& steps;
  prometheus::Family<prometheus::Histogram>& step_seconds;
  prometheus::Family<prometheus::Counter>& tokens;
  prometheus::Family<prometheus::Gauge>& loss;
  prometheus::Family<prometheus::Gauge>& gradient_norm;
  prometheus::Family<prometheus::Counter>& nonfinite;
  prometheus::Family<prometheus::Gauge>& error_ratio;
  prometheus::Family<prometheus::Gauge>& error_worst_layer;
  prometheus::Family<prometheus::Histogram>& checkpoint_seconds;
  prometheus::Family<prometheus::Gauge>& last_checkpoint;
};

// Not thread-safe. Removes its series at its end.
class JobSeries {
 public:
  // The families outlive it.
  JobSeries(JobFamilies& families, const RankLabel& rank);
  JobSeries(JobSeries&&) = default;

  // Of a new attempt: what was measured in the one before goes.
  void Begin(const RankFigures& figures);
  void AddStep(const v1::TrainerStep& step);
  void AddCheckpoint(double seconds, Clock::Wall at);

 private:
  using Gauges = std::map<std::pair<std::string, std::string>, MetricSeries<prometheus::Gauge>>;

  void SetBytes(Gauges& gauges, prometheus::Family<prometheus::Gauge>& family,
                const v1::LabelBytes& bytes);
  void SetSite(Gauges& gauges, prometheus::Family<prometheus::Gauge>& family,
               const std::string& site, double value);
  prometheus::Labels With(prometheus::Labels more) const;

  // What rank 0 alone reports, since it is the same for all ranks.
  struct Leader {
    MetricSeries<prometheus::Gauge> loss;
    MetricSeries<prometheus::Gauge> gradient_norm;
    MetricSeries<prometheus::Counter> nonfinite;
  };
  struct Checkpoints {
    MetricSeries<prometheus::Histogram> seconds;
    MetricSeries<prometheus::Gauge> last;
  };

  JobFamilies* families_;
  prometheus::Labels labels_;
  Gauges planned_;  // by kind and site
  Gauges used_;
  Gauges layers_;        // by bits
  Gauges error_ratios_;  // by site
  Gauges worst_layers_;
  MetricSeries<prometheus::Gauge> step_;
  MetricSeries<prometheus::Counter> steps_;
  MetricSeries<prometheus::Histogram> step_seconds_;
  MetricSeries<prometheus::Counter> tokens_;
  std::optional<Leader> leader_;
  std::optional<Checkpoints> checkpoints_;
};

}  // namespace agoq
