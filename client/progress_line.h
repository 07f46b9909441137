// Where a job is, on one line; and its printer.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

// "[#####...............] 25%  step 50/200  loss 2.1034  14.2k tok/s  left 1:15"; `width` columns
// at most.
std::string ProgressLine(const v1::JobProgress& progress, int width);

// The same without a bar, for tables: "25%, step 50/200, loss 2.1034, 14.2k tok/s, left 1:15".
std::string ProgressText(const v1::JobProgress& progress);

struct ProgressOptions {
  bool is_live = false;                            // one line of a terminal that is written over
  int width = 80;                                  // of that terminal
  std::chrono::milliseconds plain_interval{2000};  // between lines elsewhere
};

class ProgressPrinter {
 public:
  // `out` outlives it.
  ProgressPrinter(const ProgressOptions& options, std::ostream& out);
  ~ProgressPrinter();

  void Show(const v1::JobProgress& progress);
  // Ends the live line, before something else is written.
  void EndLine();

 private:
  using Clock = std::chrono::steady_clock;

  const ProgressOptions options_;
  std::ostream& out_;
  Clock::time_point printed_;
  std::string last_;  // line printed
  bool line_is_open_ = false;
};

}  // namespace agoq
