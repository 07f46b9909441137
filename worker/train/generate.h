// Text that a byte-level model writes.
#pragma once

#include <cstdint>
#include <string>

#include "worker/plan/model_shape.h"

namespace agoq {

struct GenerateOptions {
  std::string checkpoint;  // one checkpoint's own folder
  ModelShape model;        // of its config
  ComputeType compute = ComputeType::kFloat32;
  std::string prompt;  // bytes, at least one
  std::int64_t num_tokens = 200;
  double temperature = 0.8;  // 0: the likeliest token each time
  std::uint64_t seed = 0;
  std::int64_t context_length = 0;  // tokens that the model looks back; 0: max_positions
  int threads = 1;
};

// The prompt and what follows it, on the calling thread; ends early at an end of document. Throws
// std::invalid_argument for an empty prompt or a vocabulary of fewer than 256 tokens,
// std::runtime_error for files.
std::string GenerateText(const GenerateOptions& options);

}  // namespace agoq
