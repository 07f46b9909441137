// What a model is fed.
//
// B: rows of a micro-batch, T: tokens of a row
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "worker/data/token_dataset.h"

namespace agoq {

inline constexpr std::int64_t kIgnoreIndex = -100;

struct Batch {
  at::Tensor ids_BT;              // int64
  at::Tensor targets_BT;          // int64: the next token of each; kIgnoreIndex where there is none
  at::Tensor positions_BT;        // int64: 0..T-1
  at::Tensor document_starts_BT;  // bool: a document begins with this token
  std::int64_t num_targets = 0;   // targets that count
};

// Uninitialised tensors, from the calling thread's allocator context.
Batch EmptyBatch(std::int64_t rows, std::int64_t sequence_length);

// Writes one row: ids from `position` on and their targets. Where the data ends the row is padded
// with id 0 and targets that do not count.
void FillRow(const TokenDataset& dataset, std::int64_t position, std::int64_t row, Batch& batch);

}  // namespace agoq
