// The bytes that one rank holds, by label, their peak, and the bound on them. Std only.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>

#include "worker/plan/memory_label.h"

namespace agoq {

// An allocation that would pass the budget. The message lists the bytes by label.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thread-safe: memory may be freed on another thread than the one that asked for it.
class MemoryLedger {
 public:
  // `name` says whose memory it is in messages ("rank 0"); `budget_bytes` 0 sets no bound.
  explicit MemoryLedger(std::string name, std::int64_t budget_bytes = 0);

  // Throws OutOfMemory and counts nothing when the total would pass the budget.
  void Add(MemoryLabel label, std::int64_t bytes);
  void Remove(MemoryLabel label, std::int64_t bytes);
  void Move(MemoryLabel from, MemoryLabel to, std::int64_t bytes);

  MemoryBytes current() const;
  // The bytes at the moment of the largest total since the start or the last ResetPeak.
  MemoryBytes peak() const;
  void ResetPeak();

 private:
  std::string OutOfMemoryText(MemoryLabel label, std::int64_t bytes) const;  // with mutex_ held

  const std::string name_;
  const std::int64_t budget_bytes_;
  mutable std::mutex mutex_;  // guards all below
  MemoryBytes current_;
  std::int64_t total_ = 0;
  MemoryBytes peak_;
  std::int64_t peak_total_ = 0;
};

}  // namespace agoq
