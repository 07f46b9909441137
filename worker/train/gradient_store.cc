#include "worker/train/gradient_store.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <span>

#include "kernels/ops/accumulate.h"
#include "kernels/ops/gradient_accumulate.h"
#include "kernels/ops/squared_norm.h"
#include "worker/comm/quantized_reduce.h"
#include "worker/memory/counting_allocator.h"
#include "worker/model/parameters.h"

namespace agoq {
namespace {

// Elements whose place a record of an exact gradient names.
constexpr std::int64_t kExactBlock = kGradientBlock;

NonFinite FindNonFinite(const at::Tensor& gradient) {
  NonFinite found;
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, gradient.scalar_type(), "FindNonFinite", [&] {
    const at::Tensor rows = gradient.dim() == 1 ? gradient.unsqueeze(0) : gradient;
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      const scalar_t* x = rows.const_data_ptr<scalar_t>() + row * rows.stride(0);
      for (std::int64_t i = 0; i < rows.size(1); ++i) {
        if (std::isfinite(static_cast<double>(x[i]))) continue;
        if (!found.any()) found.first_block = (row * rows.size(1) + i) / kExactBlock;
        ++found.count;
      }
    }
  });
  return found;
}

// Calls reduce with the elements of an fp32 or fp64 tensor.
template <typename Reduce>
void WithSpan(const at::Tensor& flat, Reduce reduce) {
  const auto size = static_cast<std::size_t>(flat.numel());
  if (flat.scalar_type() == at::kDouble) {
    reduce(std::span(flat.mutable_data_ptr<double>(), size));
    return;
  }
  reduce(std::span(flat.mutable_data_ptr<float>(), size));
}

}  // namespace

GradientStore::GradientStore(const ParameterList& list, const GradientStoreOptions& options)
    : list_(list),
      options_(options),
      layout_(LayOutGradients(list, options.spec)),
      written_(static_cast<std::size_t>(list.size())) {
  const LabelScope label(MemoryLabel::kGradients);
  const at::ScalarType control = ControlTypeOf(options.compute);
  if (options.spec.has_value()) {
    // Zero codes: the ends of short last blocks are never written.
    codes_ = at::zeros({CodeBytes(*options.spec, layout_.quantized_elements)}, at::kByte);
    scales_ = at::zeros({NumBlocks(*options.spec, layout_.quantized_elements)}, at::kFloat);
  }
  large_ = at::zeros({layout_.large_elements}, control);
  small_ = at::zeros({layout_.small_elements}, control);
}

void GradientStore::StartStep() {
  written_.assign(written_.size(), false);
  non_finite_ = {};
}

void GradientStore::Add(int parameter, const at::Tensor& gradient) {
  const GradientMode mode = written_[parameter] ? GradientMode::kAdd : GradientMode::kWrite;
  written_[parameter] = true;
  if (layout_.places[parameter].part == GradientPart::kQuantized) {
    ops::GradientAccumulate({.store = Quantized(parameter),
                             .gradient = gradient,
                             .mode = mode,
                             .tensor_id = parameter,
                             .record = &non_finite_});
    return;
  }
  if (!std::isfinite(ops::SquaredNorm(gradient))) RecordNonFinite(parameter, gradient);
  ops::Accumulate({.sum = Exact(parameter), .addend = gradient, .mode = mode});
}

void GradientStore::RecordNonFinite(int parameter, const at::Tensor& gradient) {
  NonFinite found = FindNonFinite(gradient);
  found.tensor_id = parameter;
  non_finite_.Merge(found);
}

void GradientStore::Reduce(Communicator& communicator, std::chrono::milliseconds timeout) {
  if (communicator.size() == 1) return;
  const ReduceOptions options = {.timeout = timeout};
  if (layout_.quantized_elements > 0) QuantizedAllReduce(communicator, FlatQuantized(), options);
  if (layout_.large_elements > 0) {
    WithSpan(large_, [&](auto values) { ExactAllReduce(communicator, values, options); });
  }
  WithSpan(small_, [&](auto values) { SmallAllReduce(communicator, values, options); });
}

double GradientStore::SquaredNorm() const {
  double sum = 0;
  for (int parameter = 0; parameter < list_.size(); ++parameter) {
    const StoredGradient stored = gradient(parameter);
    sum += stored.exact.defined() ? ops::SquaredNorm(stored.exact)
                                  : ops::SquaredNorm(stored.quantized);
  }
  return sum;
}

StoredGradient GradientStore::gradient(int parameter) const {
  if (layout_.places[parameter].part == GradientPart::kQuantized) {
    return {.quantized = Quantized(parameter)};
  }
  return {.exact = Exact(parameter)};
}

at::Tensor GradientStore::Exact(int parameter) const {
  const GradientPlace& place = layout_.places[parameter];
  const at::Tensor& flat = place.part == GradientPart::kLarge ? large_ : small_;
  const ParameterInfo& info = list_.parameters[parameter];
  return flat.narrow(0, place.offset, info.num_elements()).view(info.shape);
}

QuantizedView GradientStore::Quantized(int parameter) const {
  QuantizedView view = FlatQuantized();
  const std::int64_t offset = layout_.places[parameter].offset;
  view.codes += CodeBytes(view.spec, offset);
  view.scales += offset / view.spec.block;
  view.num_elements = list_.parameters[parameter].num_elements();
  return view;
}

QuantizedView GradientStore::FlatQuantized() const {
  return {.codes = codes_.mutable_data_ptr<std::uint8_t>(),
          .scales = scales_.mutable_data_ptr<float>(),
          .spec = *options_.spec,
          .num_elements = layout_.quantized_elements};
}

}  // namespace agoq
