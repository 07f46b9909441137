// Bytes that ATen's CPU flash attention holds beside its outputs. Pure. Measured with LibTorch 2.11
// over types, lengths and threads; the memory model's test measures them again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "worker/plan/model_shape.h"

namespace agoq {

struct AttentionWorkspaceShape {
  std::int64_t sequence = 0;
  std::int64_t head_size = 0;
  ComputeType compute = ComputeType::kFloat32;
  int threads = 1;

  // Queries and keys of a tile.
  constexpr std::int64_t query_tile() const {
    const std::int64_t tile = sequence >= 768 ? 256 : sequence >= 192 ? 64 : 32;
    return std::min(tile, sequence);
  }
  constexpr std::int64_t key_tile() const { return std::min<std::int64_t>(512, sequence); }
  constexpr std::int64_t sum_bytes() const { return compute == ComputeType::kFloat64 ? 8 : 4; }
};

// Scores, maxima and sums of a tile, its output, and for bf16 the scores again.
constexpr std::int64_t AttentionForwardBytes(const AttentionWorkspaceShape& shape) {
  const std::int64_t query = shape.query_tile();
  const std::int64_t scores = query * shape.key_tile();
  const std::int64_t reduced = shape.compute == ComputeType::kBFloat16 ? scores * 2 : 0;
  return shape.threads *
         ((scores + 2 * query + query * shape.head_size) * shape.sum_bytes() + reduced);
}

// Scores and their gradients, for bf16 both again, and the row sums of the calling thread.
constexpr std::int64_t AttentionBackwardBytes(const AttentionWorkspaceShape& shape) {
  const std::int64_t scores = 2 * shape.query_tile() * shape.key_tile();
  const std::int64_t reduced = shape.compute == ComputeType::kBFloat16 ? scores * 2 : 0;
  return shape.threads * (scores * shape.sum_bytes() + reduced) +
         shape.query_tile() * shape.sum_bytes();
}

}  // namespace agoq
