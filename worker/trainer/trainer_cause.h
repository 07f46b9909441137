// Why a trainer ended, and what its process says of it.
#pragma once

#include <cstdint>

#include "worker/trainer/failure.h"

namespace agoq {

enum class TrainerCause : std::uint8_t {
  kCompleted,
  kDrained,  // a stop request, with a checkpoint
  kFailed,
  kUserError,  // files or options: another attempt would end the same way
  kOutOfMemory,
  kCollectiveFailed,
  kStartFailed,  // nobody said go
};

constexpr int ExitCodeOf(TrainerCause cause) {
  constexpr int kTerminated = 15;  // SIGTERM
  if (cause == TrainerCause::kCompleted) return kExitDone;
  if (cause == TrainerCause::kDrained) return kExitSignal + kTerminated;
  return cause == TrainerCause::kUserError ? kExitUsage : kExitFailed;
}

}  // namespace agoq
