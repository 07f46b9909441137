// The progress of a run for people: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "worker/train/train_report.h"
#include "worker/train/trainer.h"

namespace agoq {

struct ProgressView {
  StepReport step;
  double tokens_per_second = 0;
  double seconds_left = -1;       // negative: unknown
  std::vector<SiteError> errors;  // of the last sample; empty: none so far
};

// "[#####...............] 25%  step 50/200  loss 2.1034  14.2k tok/s  61.3 MiB  err 9.21%  left
// 1:15"; `width` columns at most. Bytes are this rank's peak; the error is the root mean square
// over sites.
std::string ProgressLine(const ProgressView& view, int width);

struct ProgressOptions {
  bool live = false;  // the stream is a terminal
  int width = 80;
  std::chrono::milliseconds plain_interval{
      2000};  // between plain lines; skipped steps are always told
};

// Writes to `out`, which outlives it. On one thread.
class ProgressPrinter : public TrainListener {
 public:
  ProgressPrinter(const ProgressOptions& options, std::ostream& out);
  // Ends the live line.
  ~ProgressPrinter() override;

  void OnNote(const std::string& note) override;
  void OnStep(const StepReport& step) override;
  void OnCheckpoint(const std::string& path) override;

 private:
  using Clock = std::chrono::steady_clock;

  void Update(const StepReport& step);
  void Line(const std::string& text);
  void EndLiveLine();

  const ProgressOptions options_;
  std::ostream& out_;
  ProgressView view_;
  Clock::time_point started_;
  Clock::time_point printed_;
  double first_progress_ = -1;  // negative: no step so far
  double window_seconds_ = 0;   // over recent steps, older ones weighing less
  double window_tokens_ = 0;
  bool line_is_open_ = false;
};

// Where standard error goes: live with its width if it is a terminal.
ProgressOptions OptionsOfStandardError();

}  // namespace agoq
