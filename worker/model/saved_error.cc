#include "worker/model/saved_error.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "kernels/ops/dequantize.h"

namespace agoq {
namespace {

template <typename Original, typename Copy>
void AddRow(const Original* x, const Copy* copy, std::int64_t num_elements, SiteErrorSums& sums) {
  for (std::int64_t i = 0; i < num_elements; ++i) {
    const double original = static_cast<double>(x[i]);
    const double error = static_cast<double>(copy[i]) - original;
    if (!std::isfinite(error)) continue;
    sums.squared_error += error * error;
    sums.squared_signal += original * original;
  }
}

template <typename Copy>
void AddRows(const at::Tensor& x_TE, const at::Tensor& copy_TE, SiteErrorSums& sums) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, x_TE.scalar_type(), "AddSavedError", [&] {
    for (std::int64_t t = 0; t < x_TE.size(0); ++t) {
      AddRow(x_TE.const_data_ptr<scalar_t>() + t * x_TE.stride(0),
             copy_TE.const_data_ptr<Copy>() + t * copy_TE.stride(0), x_TE.size(1), sums);
    }
  });
}

// Elements from `first` on; `first` begins a block.
QuantizedView Part(const QuantizedView& packed, std::int64_t first, std::int64_t num_elements) {
  return {.codes = packed.codes + first * BitsOf(packed.spec.format) / 8,
          .scales = packed.scales + first / packed.spec.block,
          .spec = packed.spec,
          .num_elements = num_elements};
}

}  // namespace

void AddSavedError(const at::Tensor& x_TE, const PackedTensor& packed, SiteErrorSums& sums) {
  const bool is_double = x_TE.scalar_type() == at::kDouble;
  const std::int64_t num_rows = x_TE.size(0);
  const std::int64_t row_elements = x_TE.size(1);
  const std::int64_t step = SavedErrorRows(packed.spec, num_rows);
  const at::Tensor copy_RE = at::empty({step, row_elements}, is_double ? at::kDouble : at::kFloat);
  for (std::int64_t row = 0; row < num_rows; row += step) {
    const std::int64_t rows = std::min(step, num_rows - row);
    const at::Tensor copy_TE = copy_RE.narrow(0, 0, rows);
    ops::Dequantize(Part(packed.view(), row * row_elements, rows * row_elements), copy_TE);
    const at::Tensor part_TE = x_TE.narrow(0, row, rows);
    if (is_double) {
      AddRows<double>(part_TE, copy_TE, sums);
      continue;
    }
    AddRows<float>(part_TE, copy_TE, sums);
  }
}

}  // namespace agoq
