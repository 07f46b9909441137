#include "worker/memory/counting_allocator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <thread>

namespace agoq {
namespace {

class CountingAllocatorTest : public testing::Test {
 protected:
  CountingAllocatorTest() { InstallCountingAllocator(); }

  std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>("rank 0");
};

TEST_F(CountingAllocatorTest, ChargesTheBytesOfATensorToTheLabelInScope) {
  const LedgerScope scope(ledger_);
  const LabelScope label(MemoryLabel::kGate);
  const at::Tensor tensor = at::empty({3, 5}, at::kFloat);
  EXPECT_EQ(ledger_->current()[MemoryLabel::kGate], 60);
  EXPECT_EQ(ledger_->current().total(), 60);
}

TEST_F(CountingAllocatorTest, CountsNothingWithoutALedger) {
  const at::Tensor tensor = at::empty({3, 5}, at::kFloat);
  EXPECT_EQ(ledger_->current().total(), 0);
}

TEST_F(CountingAllocatorTest, GivesAlignedMemory) {
  const at::Tensor tensor = at::empty({7}, at::kByte);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 64, 0u);
}

TEST_F(CountingAllocatorTest, ReturnsBytesToTheirLabelWhenAnotherThreadFrees) {
  at::Tensor tensor;
  {
    const LedgerScope scope(ledger_);
    const LabelScope label(MemoryLabel::kO);
    tensor = at::empty({100}, at::kDouble);
  }
  EXPECT_EQ(ledger_->current()[MemoryLabel::kO], 800);
  std::jthread([&] { tensor.reset(); }).join();
  EXPECT_EQ(ledger_->current().total(), 0);
}

TEST_F(CountingAllocatorTest, ATensorMayOutliveTheOwnerOfItsLedger) {
  at::Tensor tensor;
  {
    const LedgerScope scope(std::make_shared<MemoryLedger>("gone"));
    tensor = at::empty({100}, at::kDouble);
  }
  tensor.reset();
}

TEST_F(CountingAllocatorTest, SplitsAStorageAmongTheSitesThatShareIt) {
  const LedgerScope scope(ledger_);
  at::Tensor tensor = at::empty({10}, at::kByte);
  Relabel(tensor.storage(), {{MemoryLabel::kQ, 4}, {MemoryLabel::kK, 3}, {MemoryLabel::kV, 3}});
  EXPECT_EQ(ledger_->current()[MemoryLabel::kQ], 4);
  EXPECT_EQ(ledger_->current()[MemoryLabel::kK], 3);
  EXPECT_EQ(ledger_->current()[MemoryLabel::kV], 3);
  EXPECT_EQ(ledger_->current()[MemoryLabel::kWorkspace], 0);
  tensor.reset();
  EXPECT_EQ(ledger_->current().total(), 0);
}

TEST_F(CountingAllocatorTest, AnAllocationPastTheBudgetThrowsAndLeavesTheRestUsable) {
  const auto bounded = std::make_shared<MemoryLedger>("rank 0", 1000);
  const LedgerScope scope(bounded);
  const at::Tensor held = at::empty({900}, at::kByte);
  EXPECT_THROW(at::empty({200}, at::kByte), OutOfMemory);
  EXPECT_EQ(at::empty({100}, at::kByte).numel(), 100);
}

}  // namespace
}  // namespace agoq
