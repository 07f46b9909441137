// Tells how a rank's training goes: to the daemon, on the rank's progress page, and in its log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "proto/common/progress_page.h"
#include "worker/train/trainer.h"
#include "worker/trainer/daemon_link.h"
#include "worker/trainer/progress.h"

namespace agoq {

// On one thread. The page is there from the first moment, and says so when the end has come.
class AttemptListener : public TrainListener {
 public:
  // `link` outlives it. Throws std::runtime_error when the page cannot be made.
  AttemptListener(DaemonLink& link, const DaemonLinkOptions& options);
  ~AttemptListener() override;
  AttemptListener(const AttemptListener&) = delete;
  AttemptListener& operator=(const AttemptListener&) = delete;

  void OnNote(const std::string& note) override;
  void OnStep(const StepReport& step) override;
  void OnPhase(const PhaseReport& phase) override;
  void OnCheckpoint(const std::string& path) override;

  // A step was made.
  bool has_begun() const { return has_begun_; }

 private:
  void Enter(ProgressPhase phase);

  DaemonLink& link_;
  ProgressPageWriter page_;
  ProgressPrinter printer_;
  RankPosition position_;
  std::chrono::steady_clock::time_point phase_began_;
  bool has_begun_ = false;
  bool was_skipped_ = false;
};

}  // namespace agoq
