#include "worker/daemon/step_window.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace agoq {
namespace {

// The smallest value that at least that part of the values does not exceed.
double Quantile(const std::vector<double>& sorted, double part) {
  const double index = std::ceil(part * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(index, 0.0))];
}

}  // namespace

void StepWindow::Add(const v1::TrainerStep& step) {
  steps_.push_back(step);
  steps_.back().clear_peak();
  steps_.back().clear_errors();
  if (steps_.size() > kSteps) steps_.pop_front();
}

double StepWindow::SecondsOfSteps() const {
  double seconds = 0;
  for (const v1::TrainerStep& step : steps_) seconds += step.seconds();
  return seconds;
}

// From what the steps after the first one of the window added to the part that is done.
double StepWindow::SecondsLeft() const {
  const double done = steps_.back().done_ratio();
  if (done >= 1) return 0;
  const double gained = done - steps_.front().done_ratio();
  const double seconds = SecondsOfSteps() - steps_.front().seconds();
  return gained > 0 ? seconds * (1 - done) / gained : -1;
}

v1::JobProgress StepWindow::Progress() const {
  v1::JobProgress progress;
  progress.set_seconds_left(-1);
  if (steps_.empty()) return progress;
  std::vector<double> seconds;
  double tokens = 0;
  for (const v1::TrainerStep& step : steps_) {
    seconds.push_back(step.seconds());
    tokens += static_cast<double>(step.tokens());
  }
  std::sort(seconds.begin(), seconds.end());
  const v1::TrainerStep& last = steps_.back();
  progress.set_step(last.step());
  progress.set_total_steps(last.total_steps());
  progress.set_done_ratio(last.done_ratio());
  progress.set_loss(last.loss());
  const double total = SecondsOfSteps();
  if (total > 0) progress.set_tokens_per_second(tokens / total);
  progress.set_seconds_left(SecondsLeft());
  progress.set_step_seconds_p50(Quantile(seconds, 0.5));
  progress.set_step_seconds_p95(Quantile(seconds, 0.95));
  return progress;
}

}  // namespace agoq
