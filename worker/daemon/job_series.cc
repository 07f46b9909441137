#include "worker/daemon/job_series.h"

namespace agoq {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Registry;

const prometheus::Histogram::BucketBoundaries& StepBuckets() {
  static const prometheus::Histogram::BucketBoundaries kSeconds = {0.05, 0.1, 0.25, 0.5, 1,   2.5,
                                                                   5,    10,  30,   60,  120, 300};
  return kSeconds;
}

const prometheus::Histogram::BucketBoundaries& CheckpointBuckets() {
  static const prometheus::Histogram::BucketBoundaries kSeconds = {0.1, 0.5, 1,   5,
                                                                   15,  60,  300, 900};
  return kSeconds;
}

auto& Gauge(Registry& registry, const char* name, const char* help) {
  return BuildGauge().Name(name).Help(help).Register(registry);
}

auto& Counter(Registry& registry, const char* name, const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry);
}

auto& Histogram(Registry& registry, const char* name, const char* help) {
  return BuildHistogram().Name(name).Help(help).Register(registry);
}

// Labels that are no save site are kinds of their own.
std::pair<std::string, std::string> KindAndSite(const std::string& label) {
  if (label == "weights" || label == "gradients" || label == "optimizer" || label == "workspace") {
    return {label, ""};
  }
  return {"activations", label};
}

}  // namespace

JobFamilies::JobFamilies(Registry& registry)
    : memory_planned(Gauge(registry, "agoq_memory_planned_bytes",
                           "Bytes at the rank's peak that the memory model predicts.")),
      memory_used(Gauge(registry, "agoq_memory_used_bytes",
                        "Bytes at the rank's peak so far, as the trainer counted them.")),
      activation_layers(Gauge(registry, "agoq_activation_layers",
                              "Layers by the bits of their saved activations; each of a layer's "
                              "eight sites counts an eighth.")),
      step(Gauge(registry, "agoq_step", "Steps done.")),
      steps(Counter(registry, "agoq_steps_total", "Steps that this worker took part in.")),
      step_seconds(Histogram(registry, "agoq_step_seconds", "Duration of a step.")),
      tokens(Counter(registry, "agoq_tokens_total",
                     "Unmasked tokens of the steps, all ranks together.")),
      loss(Gauge(registry, "agoq_loss", "Nats per token of the last global batch.")),
      gradient_norm(Gauge(registry, "agoq_gradient_norm", "Global norm of the last gradient.")),
      nonfinite(Counter(registry, "agoq_nonfinite_total",
                        "Steps that changed nothing since a gradient was not finite.")),
      error_ratio(Gauge(registry, "agoq_quantization_error_ratio",
                        "Relative error of the saved copies of a site, over all layers.")),
      error_worst_layer(Gauge(registry, "agoq_quantization_error_worst_layer",
                              "Layer with the largest relative error, from 0.")),
      checkpoint_seconds(
          Histogram(registry, "agoq_checkpoint_seconds", "Duration of writing a checkpoint.")),
      last_checkpoint(Gauge(registry, "agoq_last_checkpoint_timestamp_seconds",
                            "Unix time of the newest checkpoint.")) {}

JobSeries::JobSeries(JobFamilies& families, const RankLabel& rank)
    : families_(&families),
      labels_{{"training_job", rank.training_job}, {"rank", std::to_string(rank.rank)}},
      step_(families.step, labels_),
      steps_(families.steps, labels_),
      step_seconds_(families.step_seconds, labels_, StepBuckets()),
      tokens_(families.tokens, labels_) {
  if (rank.rank != 0) return;
  const prometheus::Labels job = {{"training_job", rank.training_job}};
  leader_.emplace(
      Leader{{families.loss, job}, {families.gradient_norm, job}, {families.nonfinite, job}});
}

prometheus::Labels JobSeries::With(prometheus::Labels more) const {
  more.insert(labels_.begin(), labels_.end());
  return more;
}

void JobSeries::Begin(const RankFigures& figures) {
  for (Gauges* gauges : {&planned_, &used_, &layers_, &error_ratios_, &worst_layers_}) {
    gauges->clear();
  }
  for (const v1::LabelBytes& bytes : figures.planned) {
    SetBytes(planned_, families_->memory_planned, bytes);
  }
  for (const auto& [bits, layers] : figures.layers_by_bits) {
    MetricSeries<prometheus::Gauge> gauge(families_->activation_layers, With({{"bits", bits}}));
    gauge->Set(layers);
    layers_.emplace(std::pair(bits, ""), std::move(gauge));
  }
}

void JobSeries::SetBytes(Gauges& gauges, prometheus::Family<prometheus::Gauge>& family,
                         const v1::LabelBytes& bytes) {
  const auto key = KindAndSite(bytes.label());
  auto found = gauges.find(key);
  if (found == gauges.end()) {
    found = gauges
                .emplace(key, MetricSeries<prometheus::Gauge>(
                                  family, With({{"kind", key.first}, {"site", key.second}})))
                .first;
  }
  found->second->Set(static_cast<double>(bytes.bytes()));
}

void JobSeries::SetSite(Gauges& gauges, prometheus::Family<prometheus::Gauge>& family,
                        const std::string& site, double value) {
  const std::pair<std::string, std::string> key = {site, ""};
  auto found = gauges.find(key);
  if (found == gauges.end()) {
    found =
        gauges.emplace(key, MetricSeries<prometheus::Gauge>(family, With({{"site", site}}))).first;
  }
  found->second->Set(value);
}

void JobSeries::AddStep(const v1::TrainerStep& step) {
  step_->Set(static_cast<double>(step.step()));
  steps_->Increment();
  step_seconds_->Observe(step.seconds());
  tokens_->Increment(static_cast<double>(step.tokens()));
  for (const v1::LabelBytes& bytes : step.peak()) {
    SetBytes(used_, families_->memory_used, bytes);
  }
  for (const v1::SiteError& error : step.errors()) {
    SetSite(error_ratios_, families_->error_ratio, error.site(), error.ratio());
    SetSite(worst_layers_, families_->error_worst_layer, error.site(),
            static_cast<double>(error.worst_layer()));
  }
  if (!leader_) return;
  leader_->loss->Set(step.loss());
  leader_->gradient_norm->Set(step.gradient_norm());
  if (step.skipped()) leader_->nonfinite->Increment();
}

void JobSeries::AddCheckpoint(double seconds, Clock::Wall at) {
  if (!checkpoints_) {
    checkpoints_.emplace(Checkpoints{{families_->checkpoint_seconds, labels_, CheckpointBuckets()},
                                     {families_->last_checkpoint, labels_}});
  }
  checkpoints_->seconds->Observe(seconds);
  checkpoints_->last->Set(std::chrono::duration<double>(at.time_since_epoch()).count());
}

}  // namespace agoq
