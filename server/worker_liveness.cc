#include "server/worker_liveness.h"

#include <algorithm>

namespace agoq {
namespace {

constexpr double kLeastStillSeconds = 5;
constexpr double kStillSteps = 2;

}  // namespace

bool IsWorkerLost(const WorkerEvidence& evidence) {
  if (evidence.is_in_grace) return false;
  if (evidence.attempt_is_over) return true;
  if (evidence.is_isolated) return false;
  if (evidence.is_idle) return true;
  if (!evidence.any_peer_is_connected) {
    return evidence.silence_seconds > evidence.silence_limit_seconds;
  }
  return evidence.seconds_without_step >
         std::max(kLeastStillSeconds, kStillSteps * evidence.step_seconds_p95);
}

}  // namespace agoq
