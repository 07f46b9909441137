// The file task.pb of an attempt's folder as plain values.
#pragma once

#include <string>

#include "worker/train/train_options.h"
#include "worker/trainer/daemon_link.h"

namespace agoq {

struct AttemptTask {
  DaemonLinkOptions link;
  int world = 1;
  std::string host;      // at which other ranks reach this one
  TrainOptions options;  // with this rank's budget
  std::string problem;   // not empty: the job cannot be run; `options` are incomplete
};

// Throws UsageError: no readable task there. What is wrong with the job itself goes to `problem`,
// so that the daemon can be told.
AttemptTask ReadAttemptTask(const std::string& folder);

}  // namespace agoq
