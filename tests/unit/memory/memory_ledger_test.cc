#include "worker/memory/memory_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agoq {
namespace {

using ::testing::HasSubstr;

TEST(MemoryLedgerTest, PeakKeepsTheLabelsOfTheLargestTotal) {
  MemoryLedger ledger("rank 0");
  ledger.Add(MemoryLabel::kQ, 100);
  ledger.Add(MemoryLabel::kWorkspace, 50);
  ledger.Remove(MemoryLabel::kQ, 100);
  ledger.Add(MemoryLabel::kUp, 60);
  EXPECT_EQ(ledger.peak().total(), 150);
  EXPECT_EQ(ledger.peak()[MemoryLabel::kQ], 100);
  EXPECT_EQ(ledger.peak()[MemoryLabel::kUp], 0);
  EXPECT_EQ(ledger.current().total(), 110);
}

TEST(MemoryLedgerTest, PeakStartsAgainFromWhatIsHeld) {
  MemoryLedger ledger("rank 0");
  ledger.Add(MemoryLabel::kQ, 100);
  ledger.Remove(MemoryLabel::kQ, 70);
  ledger.ResetPeak();
  EXPECT_EQ(ledger.peak().total(), 30);
}

TEST(MemoryLedgerTest, PastTheBudgetListsBytesByLabelAndCountsNothing) {
  MemoryLedger ledger("rank 3", 100);
  ledger.Add(MemoryLabel::kWeights, 60);
  ledger.Add(MemoryLabel::kGate, 40);
  try {
    ledger.Add(MemoryLabel::kUp, 1);
    FAIL() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 3"));
    EXPECT_THAT(error.what(), HasSubstr("1 bytes for up"));
    EXPECT_THAT(error.what(), HasSubstr("weights 60"));
    EXPECT_THAT(error.what(), HasSubstr("gate 40"));
    EXPECT_THAT(error.what(), HasSubstr("budget of 100"));
  }
  EXPECT_EQ(ledger.current().total(), 100);
}

}  // namespace
}  // namespace agoq
