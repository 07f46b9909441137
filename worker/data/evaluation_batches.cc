#include "worker/data/evaluation_batches.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace agoq {

EvaluationBatches::EvaluationBatches(const TokenDataset& dataset, const EvaluationOptions& options)
    : dataset_(dataset), options_(options) {
  if (options.batch_size < 1 || options.sequence_length < 1) {
    throw std::invalid_argument("evaluation: batch " + std::to_string(options.batch_size) +
                                ", sequence length " + std::to_string(options.sequence_length) +
                                ": both must be at least 1");
  }
  if (dataset.num_tokens() < 2) {
    throw std::invalid_argument(dataset.prefix() + ": has " + std::to_string(dataset.num_tokens()) +
                                " tokens; evaluation needs at least 2");
  }
  num_windows_ = (num_targets() + options.sequence_length - 1) / options.sequence_length;
}

std::int64_t EvaluationBatches::num_batches() const {
  return (num_windows_ + options_.batch_size - 1) / options_.batch_size;
}

Batch EvaluationBatches::At(std::int64_t index) const {
  const std::int64_t first = index * options_.batch_size;
  const std::int64_t rows = std::min(options_.batch_size, num_windows_ - first);
  Batch batch = EmptyBatch(rows, options_.sequence_length);
  for (std::int64_t row = 0; row < rows; ++row) {
    FillRow(dataset_, (first + row) * options_.sequence_length, row, batch);
  }
  return batch;
}

}  // namespace agoq
