// One time series that is removed from its family with its owner.
#pragma once

#include <prometheus/family.h>

#include <string>
#include <utility>

namespace agoq {

// The family outlives it; no other owner has the same labels.
template <typename Metric>
class MetricSeries {
 public:
  template <typename... Arguments>
  MetricSeries(prometheus::Family<Metric>& family, const prometheus::Labels& labels,
               const Arguments&... arguments)
      : family_(&family), metric_(&family.Add(labels, arguments...)) {}
  ~MetricSeries() {
    if (metric_ != nullptr) family_->Remove(metric_);
  }
  MetricSeries(MetricSeries&& other) noexcept
      : family_(other.family_), metric_(std::exchange(other.metric_, nullptr)) {}
  MetricSeries& operator=(MetricSeries&&) = delete;

  Metric* operator->() const { return metric_; }

 private:
  prometheus::Family<Metric>* family_;
  Metric* metric_;
};

}  // namespace agoq
