#include "kernels/ops/accumulate.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/ops/matrix_of.h"
#include "kernels/ops/rows_of.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 32768;

template <typename Sum, typename Addend>
void AccumulateRow(const Addend* x, std::int64_t num_elements, GradientMode mode, Sum* sum) {
  if (mode == GradientMode::kWrite) {
    for (std::int64_t i = 0; i < num_elements; ++i) sum[i] = static_cast<Sum>(x[i]);
    return;
  }
  for (std::int64_t i = 0; i < num_elements; ++i) sum[i] += static_cast<Sum>(x[i]);
}

template <typename Sum, typename Addend>
void AccumulateRows(const ref::RowsView& sum, const ref::RowsView& addend, GradientMode mode) {
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / sum.columns);
  at::parallel_for(0, sum.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      AccumulateRow(static_cast<const Addend*>(addend.elements) + row * addend.row_stride,
                    sum.columns, mode, static_cast<Sum*>(sum.elements) + row * sum.row_stride);
    }
  });
}

// A 2-D tensor keeps its rows even if it is contiguous: the other one may be strided.
ref::RowsView ViewOf(const at::Tensor& tensor, std::string_view name) {
  return tensor.defined() && tensor.dim() == 2 ? MatrixOf(tensor, name) : RowsOf(tensor, name);
}

}  // namespace

void Accumulate(const AccumulateArgs& args) {
  const ref::RowsView sum = ViewOf(args.sum, "accumulate: sum");
  const ref::RowsView addend = ViewOf(args.addend, "accumulate: addend");
  if (sum.type == ref::ElementType::kBfloat16) {
    throw std::invalid_argument("accumulate: sum: type bf16; pass fp32 or fp64");
  }
  if (args.sum.sizes() != args.addend.sizes()) {
    throw std::invalid_argument("accumulate: addend has " + std::to_string(addend.num_elements()) +
                                " elements, the sum has " + std::to_string(sum.num_elements()) +
                                "; give both one shape");
  }
  if (sum.num_elements() == 0) return;
  AT_DISPATCH_FLOATING_TYPES(args.sum.scalar_type(), "Accumulate", [&] {
    using sum_t = scalar_t;
    AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, args.addend.scalar_type(), "Accumulate", [&] {
      AccumulateRows<sum_t, scalar_t>(sum, addend, args.mode);
    });
  });
}

}  // namespace agoq::ops
