// Rotary position embedding, Hugging Face's layout: the halves of a head are the two coordinates.
// Shapes: T tokens, E = heads * head_size.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace agoq {

// [positions, head_size / 2] each, contiguous, fp32 or fp64.
struct RopeTable {
  at::Tensor cos;
  at::Tensor sin;
};

enum class RopeDirection : std::uint8_t { kForward, kBackward };

}  // namespace agoq

namespace agoq::ops {

struct RopeTableArgs {
  std::int64_t num_positions = 0;
  std::int64_t head_size = 0;  // positive and even
  double theta = 10000.0;      // positive
  at::ScalarType type = at::kFloat;
};

// Cosine and sine of position * theta^(-2 i / head_size), angles in double, rounded once. Allocates
// the two tensors. Throws std::invalid_argument for other arguments than the comments allow.
RopeTable MakeRopeTable(const RopeTableArgs& args);

struct RopeArgs {
  at::Tensor in_TE;        // fp32, bf16 (computed in fp32, rounded once) or fp64
  at::Tensor out_TE;       // of in_TE's type; may be in_TE
  at::Tensor positions_T;  // int64, contiguous: rows of the table
  const RopeTable& table;  // fp64 for fp64 tensors, else fp32
  std::int64_t head_size = 0;
  RopeDirection direction = RopeDirection::kForward;
};

// Rotates the pair (i, i + head_size / 2) of each head by the angle of the token's position; the
// backward direction, by its negative: the gradient. in_TE and out_TE may be strided from row to
// row. Throws std::invalid_argument for another type, size or layout, and std::out_of_range, with
// the place, the position and the limit, for one that the table lacks; before anything is written.
// No ATen allocation.
void Rope(const RopeArgs& args);

}  // namespace agoq::ops
