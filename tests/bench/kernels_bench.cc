// Rates of the storing kernels on one thread, in bytes of fp32 elements read or written per second.
// Three sets of buffers rotate, larger together than the caches of a core.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops/adam.h"
#include "kernels/ops/dequantize.h"
#include "kernels/ops/gradient_accumulate.h"
#include "kernels/ops/packed_tensor.h"
#include "kernels/ops/quantize.h"
#include "kernels/ops/reduce_quantized.h"
#include "kernels/ops/squared_norm.h"
#include "kernels/quant_spec.h"
#include "kernels/ref/dequantize.h"
#include "kernels/ref/quantize.h"

namespace {

using agoq::Format;
using agoq::PackedTensor;
using agoq::QuantSpec;
using agoq::ref::LoopVariant;

constexpr std::int64_t kElements = 4 << 20;
constexpr int kSets = 3;

struct BufferSet {
  at::Tensor x = at::randn({kElements});
  PackedTensor packed;
  at::Tensor out = at::empty_like(x);
};

std::array<BufferSet, kSets> MakeSets(const QuantSpec& spec) {
  std::array<BufferSet, kSets> sets;
  for (BufferSet& set : sets) {
    set.packed = agoq::ops::Quantize(set.x, spec, 0, nullptr);
    set.out.zero_();
  }
  return sets;
}

// Calls step(set) with the sets in turn and reports the rate of fp32 bytes.
template <class Step>
void Measure(benchmark::State& state, const QuantSpec& spec, Step step) {
  at::set_num_threads(1);
  std::array<BufferSet, kSets> sets = MakeSets(spec);
  std::size_t turn = 0;
  for (auto _ : state) {
    step(sets[turn]);
    turn = (turn + 1) % kSets;
  }
  state.SetBytesProcessed(state.iterations() * kElements *
                          static_cast<std::int64_t>(sizeof(float)));
}

agoq::ref::RowsView Rows(const at::Tensor& x) {
  return {.elements = x.data_ptr(), .rows = 1, .columns = x.numel(), .row_stride = x.numel()};
}

void Quantize(benchmark::State& state, QuantSpec spec, LoopVariant variant) {
  if (!IsAvailable(variant)) return state.SkipWithError("this CPU lacks the variant");
  Measure(state, spec, [&](BufferSet& set) {
    agoq::ref::QuantizeBlocks(Rows(set.x), {0, NumBlocks(spec, kElements)}, 0, set.packed.view(),
                              variant);
  });
}

void Dequantize(benchmark::State& state, QuantSpec spec, LoopVariant variant) {
  if (!IsAvailable(variant)) return state.SkipWithError("this CPU lacks the variant");
  Measure(state, spec, [&](BufferSet& set) {
    agoq::ref::DequantizeBlocks(set.packed.view(), {0, NumBlocks(spec, kElements)}, Rows(set.out),
                                variant);
  });
}

constexpr QuantSpec kNf4{.format = Format::kNf4, .block = agoq::kActivationBlock};
constexpr QuantSpec kInt8{.format = Format::kInt8, .block = agoq::kActivationBlock};
constexpr QuantSpec kGradient{.format = Format::kInt8, .block = agoq::kGradientBlock};

void QuantizeTensor(benchmark::State& state, QuantSpec spec, at::ScalarType type) {
  at::set_num_threads(1);
  const at::Tensor x = at::randn({kElements}).to(type);
  for (auto _ : state) benchmark::DoNotOptimize(agoq::ops::Quantize(x, spec, 0, nullptr));
  state.SetItemsProcessed(state.iterations() * kElements);
  state.SetBytesProcessed(state.iterations() * kElements *
                          static_cast<std::int64_t>(x.element_size()));
}

void GradientAdd(benchmark::State& state) {
  Measure(state, kGradient, [](BufferSet& set) {
    agoq::ops::GradientAccumulate({.store = set.packed.view(),
                                   .gradient = set.x,
                                   .mode = agoq::GradientMode::kAdd,
                                   .tensor_id = 0});
  });
}

void ReduceFourPayloads(benchmark::State& state) {
  const PackedTensor sum = agoq::ops::Quantize(at::zeros({kElements}), kGradient, 0, nullptr);
  Measure(state, kGradient, [&](BufferSet& set) {
    agoq::ops::ReduceQuantized({.payloads = std::vector<agoq::QuantizedView>(4, set.packed.view()),
                                .spec = kGradient,
                                .num_elements = kElements,
                                .factor = 0.25,
                                .out = sum.view()});
  });
}

void Adam(benchmark::State& state) {
  const at::Tensor weight = at::randn({kElements});
  const at::Tensor moment1 = at::zeros_like(weight);
  const at::Tensor moment2 = at::zeros_like(weight);
  std::int64_t step = 0;
  Measure(state, kGradient, [&](BufferSet& set) {
    agoq::ops::AdamStep({.weight = weight,
                         .moment1 = moment1,
                         .moment2 = moment2,
                         .quantized_gradient = set.packed.view(),
                         .learning_rate = 1e-4,
                         .weight_decay = 0.1,
                         .step = ++step});
  });
}

void SquaredNormOfPacked(benchmark::State& state) {
  Measure(state, kGradient, [](BufferSet& set) {
    benchmark::DoNotOptimize(agoq::ops::SquaredNorm(set.packed.view()));
  });
}

BENCHMARK_CAPTURE(Quantize, nf4_baseline, kNf4, LoopVariant::kBaseline);
BENCHMARK_CAPTURE(Quantize, nf4_avx2, kNf4, LoopVariant::kAvx2);
BENCHMARK_CAPTURE(Quantize, int8_baseline, kInt8, LoopVariant::kBaseline);
BENCHMARK_CAPTURE(Quantize, int8_avx2, kInt8, LoopVariant::kAvx2);
BENCHMARK_CAPTURE(Dequantize, nf4_baseline, kNf4, LoopVariant::kBaseline);
BENCHMARK_CAPTURE(Dequantize, nf4_avx2, kNf4, LoopVariant::kAvx2);
BENCHMARK_CAPTURE(Dequantize, int8_baseline, kInt8, LoopVariant::kBaseline);
BENCHMARK_CAPTURE(Dequantize, int8_avx2, kInt8, LoopVariant::kAvx2);
BENCHMARK_CAPTURE(QuantizeTensor, nf4_fp32, kNf4, at::kFloat);
BENCHMARK_CAPTURE(QuantizeTensor, nf4_bf16, kNf4, at::kBFloat16);
BENCHMARK_CAPTURE(QuantizeTensor, nf4_fp64, kNf4, at::kDouble);
BENCHMARK(GradientAdd);
BENCHMARK(ReduceFourPayloads);
BENCHMARK(Adam);
BENCHMARK(SquaredNormOfPacked);

}  // namespace

BENCHMARK_MAIN();
