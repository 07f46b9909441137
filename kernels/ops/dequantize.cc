#include "kernels/ops/dequantize.h"

#include <ATen/ops/empty.h>

#include <stdexcept>

#include "kernels/ops/parallel_blocks.h"
#include "kernels/ops/rows_of.h"
#include "kernels/ref/dequantize.h"

namespace agoq::ops {
namespace {

void RequireDefined(const PackedTensor& packed) {
  if (packed.defined()) return;
  throw std::invalid_argument("dequantize: undefined packed tensor; store one first");
}

}  // namespace

void Dequantize(const QuantizedView& packed, const at::Tensor& out) {
  const ref::RowsView rows = RowsOf(out, "dequantize: out");
  RequireElements(packed, rows.num_elements(), "dequantize: packed");
  ForBlocks(packed.spec, packed.num_elements,
            [&](ref::BlockRange range) { ref::DequantizeBlocks(packed, range, rows); });
}

void Dequantize(const PackedTensor& packed, const at::Tensor& out) {
  RequireDefined(packed);
  Dequantize(packed.view(), out);
}

at::Tensor Dequantize(const PackedTensor& packed, at::ScalarType type) {
  RequireDefined(packed);
  at::Tensor out = at::empty(packed.sizes, type);
  Dequantize(packed.view(), out);
  return out;
}

}  // namespace agoq::ops
