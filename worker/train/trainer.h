// One training attempt of one rank: from the newest checkpoint, or from initial weights, to the
// last step.
#pragma once

#include <atomic>
#include <string>

#include "worker/comm/communicator.h"
#include "worker/train/train_options.h"
#include "worker/train/train_report.h"

namespace agoq {

// Follows a rank's training; called on the training thread, between steps.
class TrainListener {
 public:
  virtual ~TrainListener() = default;
  // One line about something that a user should know (resumed from, skipped checkpoint, ...).
  virtual void OnNote(const std::string& note) = 0;
  virtual void OnStep(const StepReport& step) = 0;
  // A phase begins.
  virtual void OnPhase(const PhaseReport&) {}
  virtual void OnCheckpoint(const std::string& path) = 0;
};

struct TrainContext {
  Communicator& communicator;  // the data-parallel group
  const std::atomic<bool>&
      stop_request;  // any rank's: all stop after the same step, with a checkpoint
  TrainListener& listener;
};

// Trains on the calling thread, whose intra-op thread count it sets, and whose allocations it
// counts (call InstallCountingAllocator first in main). Every rank of the group calls it with the
// same options; rank 0 alone writes checkpoints. Throws std::invalid_argument for options that
// cannot be right, std::runtime_error for files, CommunicatorError when a peer is lost, OutOfMemory
// past the budget.
TrainReport Train(const TrainOptions& options, const TrainContext& context);

}  // namespace agoq
