// A whole data set in order, each token a target once (but the very first, which nothing precedes).
#pragma once

#include <cstdint>

#include "worker/data/batch.h"
#include "worker/data/token_dataset.h"

namespace agoq {

struct EvaluationOptions {
  std::int64_t batch_size = 1;       // rows
  std::int64_t sequence_length = 0;  // tokens of a row
};

// Windows of sequence_length tokens one after the other. The last one is padded with targets that
// do not count, the last batch may have fewer rows. Ranks share the work by index.
class EvaluationBatches {
 public:
  // Borrows `dataset`. Throws std::invalid_argument for data of fewer than two tokens or counts
  // below one.
  EvaluationBatches(const TokenDataset& dataset, const EvaluationOptions& options);

  std::int64_t num_batches() const;
  std::int64_t num_targets() const { return dataset_.num_tokens() - 1; }
  Batch At(std::int64_t index) const;

 private:
  const TokenDataset& dataset_;
  EvaluationOptions options_;
  std::int64_t num_windows_;
};

}  // namespace agoq
