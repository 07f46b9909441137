// The numbers of a LLaMA-class model that fix its tensors. Pure.
#pragma once

#include <cstdint>

namespace agoq {

struct ModelShape {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_size = 0;  // explicit: need not be hidden_size / num_heads
  std::int64_t ffn_size = 0;
  std::int64_t max_positions = 0;
  bool tied_head = false;
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  double init_std = 0.02;

  constexpr std::int64_t query_size() const { return num_heads * head_size; }
  constexpr std::int64_t kv_size() const { return num_kv_heads * head_size; }
  constexpr std::int64_t qkv_size() const { return query_size() + 2 * kv_size(); }

  friend constexpr bool operator==(const ModelShape&, const ModelShape&) = default;
};

// Type of weights and activations; on CPU any of these.
enum class ComputeType : std::uint8_t { kFloat32, kBFloat16, kFloat64 };

constexpr std::int64_t BytesOf(ComputeType type) {
  switch (type) {
    case ComputeType::kFloat32:
      return 4;
    case ComputeType::kBFloat16:
      return 2;
    case ComputeType::kFloat64:
      return 8;
  }
  return 0;
}

}  // namespace agoq
