// The tensors of a LLaMA-class model in a fixed order: names and shapes of Hugging Face. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/plan/model_shape.h"

namespace agoq {

struct ParameterInfo {
  std::string name;  // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;

  std::int64_t num_elements() const;
  bool is_matrix() const { return shape.size() == 2; }
};

// Tensors below this size, and all vectors, keep gradients in the control type.
inline constexpr std::int64_t kSmallTensorElements = 4096;
inline bool KeepsExactGradient(const ParameterInfo& parameter) {
  return !parameter.is_matrix() || parameter.num_elements() < kSmallTensorElements;
}

// A block's tensors, in the order of their indices.
enum BlockParameter : int {
  kQProj,
  kKProj,
  kVProj,
  kOProj,
  kGateProj,
  kUpProj,
  kDownProj,
  kInputNorm,
  kPostNorm,
  kNumBlockParameters
};

// Indices are the tensor ids of gradients.
struct ParameterList {
  std::vector<ParameterInfo> parameters;
  int final_norm = 0;
  int head = 0;  // the embedding's own index when tied

  static constexpr int embedding() { return 0; }
  static constexpr int InBlock(std::int64_t layer, BlockParameter which) {
    return 1 + static_cast<int>(layer) * kNumBlockParameters + which;
  }
  int size() const { return static_cast<int>(parameters.size()); }
  std::int64_t num_elements() const;
};

ParameterList ListParameters(const ModelShape& shape);

}  // namespace agoq
