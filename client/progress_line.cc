#include "client/progress_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/values_text.h"

namespace agoq {
namespace {

constexpr int kLongestBar = 20;
constexpr int kShortestBar = 5;
constexpr int kNoBound = 1000;

std::string Bar(double done, int width) {
  const int full = static_cast<int>(std::lround(std::clamp(done, 0.0, 1.0) * width));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]";
}

std::string Joined(const v1::JobProgress& progress, const char* separator) {
  std::string count = std::to_string(progress.step());
  if (progress.total_steps() > 0) count += "/" + std::to_string(progress.total_steps());
  std::vector<std::string> parts = {std::to_string(std::lround(100 * progress.done_ratio())) + "%",
                                    "step " + count};
  if (progress.step() > 0) {
    parts.push_back("loss " + LossText(progress.loss()));
    parts.push_back(RateText(progress.tokens_per_second()) + " tok/s");
  }
  if (progress.step() > 0 && progress.seconds_left() >= 0) {
    parts.push_back("left " + ClockText(progress.seconds_left()));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

}  // namespace

std::string ProgressLine(const v1::JobProgress& progress, int width) {
  // A narrow terminal costs the line its air first, then a part of its bar.
  std::string text = Joined(progress, "  ");
  const auto room = [&] { return width - static_cast<int>(text.size()) - 3; };
  if (room() < kShortestBar) text = Joined(progress, " ");
  const std::string bar = Bar(progress.done_ratio(), std::clamp(room(), kShortestBar, kLongestBar));
  return (bar + " " + text).substr(0, static_cast<std::size_t>(std::max(width, 1)));
}

std::string ProgressText(const v1::JobProgress& progress) { return Joined(progress, ", "); }

ProgressPrinter::ProgressPrinter(const ProgressOptions& options, std::ostream& out)
    : options_(options), out_(out) {}

ProgressPrinter::~ProgressPrinter() { EndLine(); }

void ProgressPrinter::Show(const v1::JobProgress& progress) {
  // One column stays free: a full line would wrap.
  const std::string line = ProgressLine(progress, options_.is_live ? options_.width - 1 : kNoBound);
  if (line == last_) return;
  if (options_.is_live) {
    // The escape clears what a longer line left.
    out_ << "\r" << line << "\x1b[K" << std::flush;
    line_is_open_ = true;
    last_ = line;
    return;
  }
  const Clock::time_point now = Clock::now();
  if (!last_.empty() && progress.done_ratio() < 1 && now - printed_ < options_.plain_interval) {
    return;
  }
  printed_ = now;
  last_ = line;
  out_ << line << "\n" << std::flush;
}

void ProgressPrinter::EndLine() {
  if (!line_is_open_) return;
  out_ << "\n" << std::flush;
  line_is_open_ = false;
  last_.clear();  // the next one is drawn even if it is the same
}

}  // namespace agoq
