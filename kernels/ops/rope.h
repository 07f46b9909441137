// Rotary position embedding, Hugging Face's layout: the halves of a head are the two coordinates.
// Shapes: T tokens, E = heads head_size.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace agoq {

// [positions, head_size / 2] each, fp32 or fp64.
struct RopeTable {
  at::Tensor cos;
  at::Tensor sin;
};

enum class RopeDirection : std::uint8_t { kForward, kBackward };

}  // namespace agoq

namespace agoq::ops {

struct RopeTableArgs {
  std::int64_t num_positions = 0;
  std::int64_t head_size = 0;
  double theta = 10000.0;
  at::ScalarType type = at::kFloat;
};

RopeTable MakeRopeTable(const RopeTableArgs& args);

struct RopeArgs {
  at::Tensor in_TE;
  at::Tensor out_TE;  // may be in_TE
  at::Tensor positions_T;
  const RopeTable& table;
  std::int64_t head_size = 0;
  RopeDirection direction = RopeDirection::kForward;
};

void Rope(const RopeArgs& args);

}  // namespace agoq::ops
