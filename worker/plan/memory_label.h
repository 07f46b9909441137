// What bytes are for. The trainer measures by these labels and the memory model predicts by them.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "worker/plan/bit_plan.h"

namespace agoq {

enum class MemoryLabel : std::uint8_t {
  kWeights,
  kGradients,
  kOptimizer,
  kX1,  // the save sites, in the order of Site
  kQ,
  kK,
  kV,
  kO,  // with its log-sum-exp
  kX2,
  kGate,
  kUp,
  kWorkspace,  // everything else
};
inline constexpr int kNumMemoryLabels = 12;

constexpr MemoryLabel LabelOf(Site site) {
  return static_cast<MemoryLabel>(static_cast<int>(MemoryLabel::kX1) + static_cast<int>(site));
}

constexpr std::string_view NameOf(MemoryLabel label) {
  constexpr std::string_view kNames[kNumMemoryLabels] = {
      "weights", "gradients", "optimizer", "x1",   "q",  "k",
      "v",       "o",         "x2",        "gate", "up", "workspace"};
  return kNames[static_cast<int>(label)];
}

struct MemoryBytes {
  std::array<std::int64_t, kNumMemoryLabels> by_label{};

  constexpr std::int64_t& operator[](MemoryLabel label) {
    return by_label[static_cast<int>(label)];
  }
  constexpr std::int64_t operator[](MemoryLabel label) const {
    return by_label[static_cast<int>(label)];
  }
  constexpr std::int64_t total() const {
    return std::accumulate(by_label.begin(), by_label.end(), std::int64_t{0});
  }
  friend constexpr bool operator==(const MemoryBytes&, const MemoryBytes&) = default;
};

}  // namespace agoq
