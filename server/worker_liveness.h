// When a silent worker counts as lost. Pure.
#pragma once

namespace agoq {

struct WorkerEvidence {
  double silence_seconds = 0;  // its lease is over
  double silence_limit_seconds = 120;
  bool is_in_grace = false;  // the coordinator has only just started
  bool is_isolated = false;  // most leases are over: the fault may be the coordinator's own
  bool is_idle = false;
  bool attempt_is_over = false;  // a peer reported its end
  bool any_peer_is_connected = false;
  double seconds_without_step = 0;  // of its attempt's connected ranks
  double step_seconds_p95 = 0;
};

// A worker whose peers still step is plainly alive: the same attempt cannot step without it.
bool IsWorkerLost(const WorkerEvidence& evidence);

}  // namespace agoq
