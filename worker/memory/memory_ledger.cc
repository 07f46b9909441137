#include "worker/memory/memory_ledger.h"

#include <sstream>
#include <utility>

namespace agoq {

MemoryLedger::MemoryLedger(std::string name, std::int64_t budget_bytes)
    : name_(std::move(name)), budget_bytes_(budget_bytes) {}

void MemoryLedger::Add(MemoryLabel label, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (budget_bytes_ > 0 && total_ + bytes > budget_bytes_) {
    throw OutOfMemory(OutOfMemoryText(label, bytes));
  }
  current_[label] += bytes;
  total_ += bytes;
  if (total_ <= peak_total_) return;
  peak_total_ = total_;
  peak_ = current_;
}

void MemoryLedger::Remove(MemoryLabel label, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  current_[label] -= bytes;
  total_ -= bytes;
}

void MemoryLedger::Move(MemoryLabel from, MemoryLabel to, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  current_[from] -= bytes;
  current_[to] += bytes;
}

MemoryBytes MemoryLedger::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

MemoryBytes MemoryLedger::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryLedger::ResetPeak() {
  const std::lock_guard lock(mutex_);
  peak_ = current_;
  peak_total_ = total_;
}

std::string MemoryLedger::OutOfMemoryText(MemoryLabel label, std::int64_t bytes) const {
  std::ostringstream text;
  text << name_ << ": out of memory: " << bytes << " bytes for " << NameOf(label) << " on top of "
       << total_ << " would pass the budget of " << budget_bytes_ << " bytes. Held:";
  for (int i = 0; i < kNumMemoryLabels; ++i) {
    if (current_.by_label[i] == 0) continue;
    text << " " << NameOf(static_cast<MemoryLabel>(i)) << " " << current_.by_label[i] << ",";
  }
  text << " total " << total_
       << ". Raise the budget, take smaller micro-batches, or keep fewer bits of the activations";
  return text.str();
}

}  // namespace agoq
