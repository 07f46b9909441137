// What all ranks agree on between a step's backward passes and its update, in one exchange.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ref/non_finite.h"

namespace agoq {

// One rank's word. Trivially copyable.
struct RankVerdict {
  NonFinite non_finite;
  double loss_sum = 0;         // nats
  double elapsed_seconds = 0;  // of training; rank 0's counts
  std::int64_t stop = 0;       // 1: this rank was asked to stop
};

struct StepVerdict {
  double loss_sum = 0;  // in rank order
  double elapsed_seconds = 0;
  bool stop = false;  // some rank was asked to
  // The first rank that saw a value that is not finite; -1: none did.
  int non_finite_rank = -1;
  NonFinite non_finite;  // its record
};

// Pure: the same on every rank.
StepVerdict Agree(std::span<const RankVerdict> ranks);

}  // namespace agoq
