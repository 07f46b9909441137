// The predicted workspace against what ATen's allocator really hands out.
#include "worker/plan/reduce_workspace.h"

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/unit/comm/rank_group.h"
#include "worker/comm/quantized_reduce.h"

namespace agoq::testing {
namespace {

// Counts the bytes in use, and their peak, on top of the allocator that was there.
class PeakAllocator : public c10::Allocator {
 public:
  PeakAllocator() : inner_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }

  c10::DataPtr allocate(std::size_t bytes) override {
    const std::int64_t now = in_use_ += static_cast<std::int64_t>(bytes);
    std::int64_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
    c10::DataPtr inner = inner_->allocate(bytes);
    void* const begin = inner.get();
    auto* block = new Block{this, bytes, std::move(inner)};
    return {begin, block, &Free, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  std::int64_t TakePeak() { return peak_.exchange(0); }
  std::int64_t in_use() const { return in_use_; }

 private:
  struct Block {
    PeakAllocator* owner;
    std::size_t bytes;
    c10::DataPtr inner;
  };
  static void Free(void* context) {
    auto* block = static_cast<Block*>(context);
    block->owner->in_use_ -= static_cast<std::int64_t>(block->bytes);
    delete block;
  }

  c10::Allocator* const inner_;
  std::atomic<std::int64_t> in_use_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

// LibTorch keeps a plain pointer to it until the program ends.
PeakAllocator& Allocations() {
  static PeakAllocator* const allocator = new PeakAllocator();
  return *allocator;
}

// Bytes at the peak of a reduction on all ranks together. All hold their
// buffers when the first exchange completes.
std::int64_t PeakOf(int world, const RankFunction& reduce) {
  Allocations().TakePeak();
  const auto errors = ErrorsOfRanks(Transport::kLocal, world, reduce);
  EXPECT_EQ(errors, std::vector<std::string>(world));
  EXPECT_EQ(Allocations().in_use(), 0);
  return Allocations().TakePeak();
}

TEST(ReduceWorkspaceTest, QuantizedReductionHoldsThePredictedBytes) {
  for (const QuantSpec spec : {QuantSpec{Format::kInt8, 256}, QuantSpec{Format::kInt8, 32}}) {
    for (int world : {1, 2, 3, 4}) {
      for (std::int64_t bucket : {512, 2000, 1 << 20}) {
        const std::int64_t elements = 37 * spec.block;
        const std::int64_t peak = PeakOf(world, [&](Communicator& communicator) {
          std::vector<std::uint8_t> codes(elements);
          std::vector<float> scales(37);
          QuantizedAllReduce(communicator,
                             {.codes = codes.data(),
                              .scales = scales.data(),
                              .spec = spec,
                              .num_elements = elements},
                             {.bucket_elements = bucket});
        });
        EXPECT_EQ(peak, world * QuantizedReduceWorkspaceBytes(spec, elements, world, bucket))
            << world << " ranks, bucket of " << bucket << ", block of " << spec.block;
      }
    }
  }
}

TEST(ReduceWorkspaceTest, ExactReductionsHoldThePredictedBytes) {
  for (int world : {1, 2, 3}) {
    const std::int64_t exact = PeakOf(world, [](Communicator& communicator) {
      std::vector<double> values(1001);
      ExactAllReduce(communicator, std::span(values), {.bucket_elements = 100});
    });
    EXPECT_EQ(exact, world * ExactReduceWorkspaceBytes(1001, 8, world, 100));
    const std::int64_t small = PeakOf(world, [](Communicator& communicator) {
      std::vector<float> values(1001);
      SmallAllReduce(communicator, std::span(values), {});
    });
    EXPECT_EQ(small, world * SmallReduceWorkspaceBytes(1001, 4, world));
  }
}

}  // namespace
}  // namespace agoq::testing
