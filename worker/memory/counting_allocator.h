// LibTorch's CPU memory, counted: each allocation is charged to the ledger and label of the thread
// that asks for it.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "worker/memory/memory_ledger.h"

namespace agoq {

// Puts the counting allocator under LibTorch for the rest of the process. Idempotent. Call it in
// main, before the first tensor: tensors from before are never counted.
void InstallCountingAllocator();

// While it lives, this thread's allocations are charged to `ledger`; without one they are not
// counted. Nests.
class LedgerScope {
 public:
  explicit LedgerScope(std::shared_ptr<MemoryLedger> ledger);
  ~LedgerScope();
  LedgerScope(const LedgerScope&) = delete;
  LedgerScope& operator=(const LedgerScope&) = delete;

 private:
  std::shared_ptr<MemoryLedger> previous_;
};

// While it lives, this thread's allocations carry `label`; without one they are workspace. Nests.
class LabelScope {
 public:
  explicit LabelScope(MemoryLabel label);
  ~LabelScope();
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

 private:
  MemoryLabel previous_;
};

struct LabelShare {
  MemoryLabel label = MemoryLabel::kWorkspace;
  std::int64_t bytes = 0;
};

// Charges a storage to up to three labels from now on, for a tensor that several sites share; the
// shares' sum is its size (the last one takes what is left). A storage of another allocator is left
// alone.
void Relabel(const c10::Storage& storage, std::initializer_list<LabelShare> shares);

}  // namespace agoq
