#include "kernels/ops/quantize.h"

#include <ATen/ops/empty.h>

#include "kernels/ops/parallel_blocks.h"
#include "kernels/ops/rows_of.h"
#include "kernels/ref/quantize.h"

namespace agoq::ops {

PackedTensor Quantize(const at::Tensor& x, const QuantSpec& spec, std::int32_t tensor_id,
                      NonFinite* record) {
  RequireValidSpec(spec, "quantize");
  const ref::RowsView rows = RowsOf(x, "quantize: x");
  const std::int64_t n = rows.num_elements();
  PackedTensor packed{.codes = at::empty({CodeBytes(spec, n)}, at::kByte),
                      .scales = at::empty({NumBlocks(spec, n)}, at::kFloat),
                      .spec = spec,
                      .sizes = x.sizes().vec()};
  const QuantizedView view = packed.view();
  ForBlocksRecording(spec, n, record, [&](ref::BlockRange range) {
    return ref::QuantizeBlocks(rows, range, tensor_id, view);
  });
  return packed;
}

}  // namespace agoq::ops
