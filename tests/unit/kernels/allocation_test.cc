// What the ops ask of LibTorch's allocator.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>

#include "kernels/ops/adam.h"
#include "kernels/ops/dequantize.h"
#include "kernels/ops/gradient_accumulate.h"
#include "kernels/ops/quantize.h"
#include "kernels/ops/reduce_quantized.h"
#include "kernels/ops/squared_norm.h"
#include "tests/unit/kernels/samples.h"

namespace agoq {
namespace {

using test::Gaussian;

constexpr std::int64_t kElements = 1 << 18;
constexpr QuantSpec kSpec{.format = Format::kInt8, .block = kGradientBlock};

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    ++count_;
    return inner_->allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }
  int count() const { return count_; }

 private:
  c10::Allocator* const inner_ = c10::GetDefaultCPUAllocator();
  std::atomic<int> count_ = 0;
};

// Number of allocations during `action`.
template <class Action>
int Allocations(const Action& action) {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, 100);
  const int before = allocator.count();
  action();
  return allocator.count() - before;
}

TEST(AllocationTest, QuantizeAllocatesCodesAndScalesAlone) {
  const at::Tensor x = Gaussian(kElements, 1).to(at::kBFloat16);
  EXPECT_EQ(Allocations([&] { ops::Quantize(x, kSpec, 0, nullptr); }), 2);
}

TEST(AllocationTest, DequantizeAllocatesItsResultOrNothing) {
  const PackedTensor packed = ops::Quantize(Gaussian(kElements, 1), kSpec, 0, nullptr);
  const at::Tensor out = at::empty({kElements}, at::kBFloat16);
  EXPECT_EQ(Allocations([&] { ops::Dequantize(packed, out); }), 0);
  EXPECT_EQ(Allocations([&] { ops::Dequantize(packed, at::kFloat); }), 1);
}

TEST(AllocationTest, OpsOnStoresAllocateNothing) {
  const at::Tensor x = Gaussian(kElements, 1);
  const at::Tensor moment1 = at::zeros({kElements}, at::kFloat);
  const at::Tensor moment2 = at::zeros({kElements}, at::kFloat);
  const PackedTensor packed = ops::Quantize(x, kSpec, 0, nullptr);
  const PackedTensor out = ops::Quantize(x, kSpec, 0, nullptr);
  EXPECT_EQ(Allocations([&] {
              ops::GradientAccumulate(
                  {.store = packed.view(), .gradient = x, .mode = GradientMode::kAdd});
            }),
            0);
  EXPECT_EQ(Allocations([&] {
              ops::ReduceQuantized({.payloads = {packed.view(), packed.view()},
                                    .spec = kSpec,
                                    .num_elements = kElements,
                                    .out = out.view()});
            }),
            0);
  EXPECT_EQ(Allocations([&] {
              ops::AdamStep({.weight = x,
                             .moment1 = moment1,
                             .moment2 = moment2,
                             .quantized_gradient = packed.view(),
                             .learning_rate = 1e-3});
            }),
            0);
  EXPECT_EQ(Allocations([&] {
              ops::SquaredNorm(x);
              ops::SquaredNorm(packed.view());
            }),
            0);
}

}  // namespace
}  // namespace agoq
