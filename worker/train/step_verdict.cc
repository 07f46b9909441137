#include "worker/train/step_verdict.h"

namespace agoq {

StepVerdict Agree(std::span<const RankVerdict> ranks) {
  StepVerdict verdict;
  verdict.elapsed_seconds = ranks.front().elapsed_seconds;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    verdict.loss_sum += ranks[rank].loss_sum;
    verdict.stop = verdict.stop || ranks[rank].stop != 0;
    if (verdict.non_finite_rank >= 0 || !ranks[rank].non_finite.any()) continue;
    verdict.non_finite_rank = static_cast<int>(rank);
    verdict.non_finite = ranks[rank].non_finite;
  }
  return verdict;
}

}  // namespace agoq
