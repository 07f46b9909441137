// What a storing kernel saw of NaN and infinity.
#pragma once

#include <cstdint>

namespace agoq {

// Trivially copyable, so that it can live on a device and travel between ranks.
struct NonFinite {
  std::int32_t tensor_id = -1;    // of the first block below
  std::int64_t first_block = -1;  // index within that tensor; its stored scale is NaN
  std::int64_t count = 0;         // of non-finite elements, all blocks and tensors

  constexpr bool any() const { return count > 0; }

  // Keeps the smaller (tensor_id, first_block) and adds the counts; the order of merging does not
  // matter.
  constexpr void Merge(const NonFinite& other) {
    if (!other.any()) return;
    const bool other_is_first = !any() || other.tensor_id < tensor_id ||
                                (other.tensor_id == tensor_id && other.first_block < first_block);
    if (other_is_first) {
      tensor_id = other.tensor_id;
      first_block = other.first_block;
    }
    count += other.count;
  }

  friend constexpr bool operator==(const NonFinite&, const NonFinite&) = default;
};

}  // namespace agoq
