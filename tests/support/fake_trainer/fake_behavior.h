// What a fake trainer does, read from its task. Each step is a line of its log.
//
// From the spec: steps.total (0: until it is stopped), checkpoint.uri, checkpoint.interval and
// timeouts.collective_seconds mean what they mean to the trainer. The environment's
// AGOQ_FAKE_STEP_MS is the time of a step (default 1). Words of the job's name make it fail, N and
// K being numbers:
//
//   exitK-at-N   exits with code K after step N, without a word
//   kill-at-N    is ended by SIGKILL after step N
//   hang-at-N    stands still after step N, and hears no stop request
//   oom-at-N     ends after step N with cause OOM
//   ignore-term  hears no stop request and no SIGTERM
//   usererror    ends with cause USER_ERROR before it is told to start
//   on-rank-K    all of this on rank K alone
//   once         all of this in generation 1 alone
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

enum class FakeFault : std::uint8_t { kNone, kExit, kKill, kHang, kOutOfMemory };

struct FakeBehavior {
  std::int64_t total_steps = 0;  // 0: no end
  std::chrono::milliseconds step_time{1};
  std::string checkpoints;               // folder; empty: none
  std::int64_t checkpoint_interval = 0;  // 0: at the end alone
  std::chrono::milliseconds collective_timeout{60'000};
  FakeFault fault = FakeFault::kNone;
  std::int64_t fault_step = 0;
  int exit_code = 0;  // with kExit
  bool ignores_stop = false;
  bool is_user_error = false;
};

// `step_ms`: of the environment; empty: not set.
FakeBehavior BehaviorOf(const v1::TrainerTask& task, const std::string& step_ms);

}  // namespace agoq
