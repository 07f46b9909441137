#include "worker/data/batch.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace agoq {
namespace {

std::span<std::int64_t> Row(const at::Tensor& tensor_BT, std::int64_t row) {
  const std::int64_t length = tensor_BT.size(1);
  return {tensor_BT.mutable_data_ptr<std::int64_t>() + row * length,
          static_cast<std::size_t>(length)};
}

}  // namespace

Batch EmptyBatch(std::int64_t rows, std::int64_t sequence_length) {
  const std::vector<std::int64_t> shape = {rows, sequence_length};
  return {.ids_BT = at::empty(shape, at::kLong),
          .targets_BT = at::empty(shape, at::kLong),
          .positions_BT = at::empty(shape, at::kLong),
          .document_starts_BT = at::empty(shape, at::kBool)};
}

void FillRow(const TokenDataset& dataset, std::int64_t position, std::int64_t row, Batch& batch) {
  const std::span<std::int64_t> ids = Row(batch.ids_BT, row);
  const std::span<std::int64_t> targets = Row(batch.targets_BT, row);
  const std::span<std::int64_t> positions = Row(batch.positions_BT, row);
  const auto length = static_cast<std::int64_t>(ids.size());
  const std::int64_t num_ids = std::min(length, dataset.num_tokens() - position);
  const std::int64_t num_targets = std::min(length, dataset.num_tokens() - position - 1);
  dataset.Read(position, ids.first(static_cast<std::size_t>(num_ids)));
  dataset.Read(position + 1, targets.first(static_cast<std::size_t>(num_targets)));
  std::fill(ids.begin() + num_ids, ids.end(), 0);
  std::fill(targets.begin() + num_targets, targets.end(), kIgnoreIndex);
  std::iota(positions.begin(), positions.end(), 0);
  bool* starts = batch.document_starts_BT.mutable_data_ptr<bool>() + row * length;
  std::fill(starts, starts + length, false);
  for (const std::int64_t start : dataset.DocumentStarts(position, position + num_ids)) {
    starts[start - position] = true;
  }
  batch.num_targets += num_targets;
}

}  // namespace agoq
