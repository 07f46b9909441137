// How many tokens' logits exist at a time. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace agoq {

// About 4 Mi logits, and at least 128 tokens so that the products stay efficient.
constexpr std::int64_t HeadChunkTokens(std::int64_t num_tokens, std::int64_t vocab_size) {
  constexpr std::int64_t kLogits = std::int64_t{1} << 22;
  return std::min(num_tokens, std::max<std::int64_t>(128, kLogits / vocab_size));
}

}  // namespace agoq
