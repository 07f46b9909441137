#include "worker/trainer/attempt_listener.h"

#include <iostream>

namespace agoq {
namespace {

std::int64_t UnixNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

ProgressPhase PageWord(TrainPhase phase) {
  switch (phase) {
    case TrainPhase::kTraining:
      return ProgressPhase::kTraining;
    case TrainPhase::kCheckpoint:
      return ProgressPhase::kCheckpoint;
    case TrainPhase::kEvaluating:
      return ProgressPhase::kEvaluating;
  }
  return ProgressPhase::kTraining;
}

}  // namespace

AttemptListener::AttemptListener(DaemonLink& link, const DaemonLinkOptions& options)
    : link_(link),
      page_(ProgressPagePath(options.folder, options.rank)),
      printer_(OptionsOfStandardError(), std::cerr) {
  position_.generation = options.generation;
  Enter(ProgressPhase::kStarting);
}

AttemptListener::~AttemptListener() { Enter(ProgressPhase::kEnded); }

void AttemptListener::Enter(ProgressPhase phase) {
  position_.phase = phase;
  position_.phase_start_unix_nanos = UnixNanos();
  phase_began_ = std::chrono::steady_clock::now();
  page_.Write(position_);
}

void AttemptListener::OnPhase(const PhaseReport& phase) {
  position_.step = phase.step;
  position_.collective_sequence = phase.collective_sequence;
  position_.allocated_bytes = phase.allocated_bytes;
  Enter(PageWord(phase.phase));
}

void AttemptListener::OnNote(const std::string& note) {
  printer_.OnNote(note);
  link_.SendNote(note);
}

void AttemptListener::OnStep(const StepReport& step) {
  has_begun_ = true;
  position_.step = step.step;
  position_.collective_sequence = step.collective_sequence;
  position_.allocated_bytes = step.allocated_bytes;
  page_.Write(position_);
  printer_.OnStep(step);
  link_.SendStep(step);
  // Of a row of such steps the first one says enough.
  if (step.skipped && !was_skipped_) {
    link_.SendNote("step " + std::to_string(step.step) + " changed nothing: " + step.non_finite);
  }
  was_skipped_ = step.skipped;
}

void AttemptListener::OnCheckpoint(const std::string& path) {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - phase_began_;
  printer_.OnCheckpoint(path);
  link_.SendCheckpoint(path, position_.step, time.count());
}

}  // namespace agoq
