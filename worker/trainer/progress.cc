#include "worker/trainer/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "proto/common/text_table.h"

namespace agoq {
namespace {

constexpr int kLongestBar = 20;
constexpr int kShortestBar = 5;
constexpr double kWindowSteps = 20;  // steps that the speed shown is a mean of, about

template <typename... Values>
std::string Text(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

std::string Bar(double progress, int width) {
  const int full = static_cast<int>(std::lround(std::clamp(progress, 0.0, 1.0) * width));
  std::string bar = "[]";
  bar.insert(1, static_cast<std::size_t>(width - full), '.');
  bar.insert(1, static_cast<std::size_t>(full), '#');
  return bar;
}

std::string RateText(double per_second) {
  if (per_second >= 1e6) return Text("%.2fM", per_second / 1e6);
  if (per_second >= 1e4) return Text("%.1fk", per_second / 1e3);
  return Text("%.0f", per_second);
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 3600) return Text("%lld:%02lld", whole / 60, whole % 60);
  return Text("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

double MeanError(const std::vector<SiteError>& errors) {
  double sum = 0;
  for (const SiteError& error : errors) sum += error.ratio * error.ratio;
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

std::vector<std::string> PartsOf(const ProgressView& view) {
  const StepReport& step = view.step;
  std::string count = std::to_string(step.step);
  if (step.total_steps > 0) count.append("/").append(std::to_string(step.total_steps));
  std::vector<std::string> parts = {Text("%.0f%%", 100 * step.progress),
                                    Text("step %s", count.c_str()), Text("loss %.4f", step.loss),
                                    RateText(view.tokens_per_second).append(" tok/s"),
                                    BytesText(step.counted_bytes)};
  if (!view.errors.empty()) parts.push_back(Text("err %.2f%%", 100 * MeanError(view.errors)));
  if (view.seconds_left >= 0) parts.push_back("left " + ClockText(view.seconds_left));
  return parts;
}

std::string Joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : separator).append(part);
  return text;
}

}  // namespace

std::string ProgressLine(const ProgressView& view, int width) {
  const std::vector<std::string> parts = PartsOf(view);
  // A narrow terminal costs the line its air first, then a part of its bar.
  std::string text = Joined(parts, "  ");
  const auto room = [&] { return width - static_cast<int>(text.size()) - 3; };
  if (room() < kShortestBar) text = Joined(parts, " ");
  const std::string bar = Bar(view.step.progress, std::clamp(room(), kShortestBar, kLongestBar));
  return (bar + " " + text).substr(0, static_cast<std::size_t>(std::max(width, 1)));
}

ProgressPrinter::ProgressPrinter(const ProgressOptions& options, std::ostream& out)
    : options_(options), out_(out) {}

ProgressPrinter::~ProgressPrinter() { EndLiveLine(); }

void ProgressPrinter::OnNote(const std::string& note) { Line("note: " + note); }

void ProgressPrinter::OnCheckpoint(const std::string& path) { Line("checkpoint: " + path); }

void ProgressPrinter::OnStep(const StepReport& step) {
  const bool is_first = first_progress_ < 0;
  Update(step);
  if (step.skipped) {
    Line("step " + std::to_string(step.step) + " changed nothing: " + step.non_finite);
  }
  const Clock::time_point now = Clock::now();
  if (options_.live) {
    // One column stays free: a full line would wrap. The escape clears what a longer line left.
    out_ << "\r" << ProgressLine(view_, options_.width - 1) << "\x1b[K" << std::flush;
    line_is_open_ = true;
    return;
  }
  if (!is_first && step.progress < 1 && now - printed_ < options_.plain_interval) return;
  printed_ = now;
  constexpr int kNoBound = 1000;
  Line(ProgressLine(view_, kNoBound));
}

void ProgressPrinter::Update(const StepReport& step) {
  const Clock::time_point now = Clock::now();
  if (first_progress_ < 0) {
    first_progress_ = step.progress;
    started_ = now;
  }
  const double fade = 1 - 1 / kWindowSteps;
  window_seconds_ = window_seconds_ * fade + step.seconds;
  window_tokens_ = window_tokens_ * fade + static_cast<double>(step.tokens);
  view_.step = step;
  view_.tokens_per_second = window_seconds_ > 0 ? window_tokens_ / window_seconds_ : 0;
  if (!step.errors.empty()) view_.errors = step.errors;
  const double advance = step.progress - first_progress_;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  view_.seconds_left = advance > 0 ? elapsed * (1 - step.progress) / advance : -1;
}

void ProgressPrinter::Line(const std::string& text) {
  EndLiveLine();
  out_ << text << "\n" << std::flush;
}

void ProgressPrinter::EndLiveLine() {
  if (line_is_open_) out_ << "\n" << std::flush;
  line_is_open_ = false;
}

ProgressOptions OptionsOfStandardError() {
  ProgressOptions options;
  options.live = ::isatty(STDERR_FILENO) == 1;
  winsize size = {};
  if (options.live && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.width = size.ws_col;
  }
  return options;
}

}  // namespace agoq
