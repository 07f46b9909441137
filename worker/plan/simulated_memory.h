// Memory that is only counted: allocations with the lifetimes of tensors. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "worker/plan/memory_label.h"

namespace agoq {

class SimulatedMemory {
 public:
  class Allocation;
  // Shared, as the storage of tensors is; freed with the last reference. The memory outlives its
  // allocations.
  using Tensor = std::shared_ptr<Allocation>;

  struct Share {
    MemoryLabel label = MemoryLabel::kWorkspace;
    std::int64_t bytes = 0;
  };

  Tensor Allocate(std::int64_t bytes, MemoryLabel label = MemoryLabel::kWorkspace);
  // Something that is there for a moment only.
  void Touch(std::int64_t bytes) { Allocate(bytes); }
  void Relabel(const Tensor& tensor, std::initializer_list<Share> shares);

  const MemoryBytes& peak() const { return peak_; }

 private:
  MemoryBytes current_;
  MemoryBytes peak_;
};

class SimulatedMemory::Allocation {
 public:
  Allocation(MemoryBytes& current, std::vector<Share> shares)
      : current_(current), shares_(std::move(shares)) {}
  ~Allocation() {
    for (const Share& share : shares_) current_[share.label] -= share.bytes;
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

 private:
  friend class SimulatedMemory;

  MemoryBytes& current_;
  std::vector<Share> shares_;
};

inline SimulatedMemory::Tensor SimulatedMemory::Allocate(std::int64_t bytes, MemoryLabel label) {
  current_[label] += bytes;
  if (current_.total() > peak_.total()) peak_ = current_;
  return std::make_shared<Allocation>(current_, std::vector<Share>{{label, bytes}});
}

inline void SimulatedMemory::Relabel(const Tensor& tensor, std::initializer_list<Share> shares) {
  for (const Share& share : tensor->shares_) current_[share.label] -= share.bytes;
  tensor->shares_ = shares;
  for (const Share& share : tensor->shares_) current_[share.label] += share.bytes;
}

}  // namespace agoq
