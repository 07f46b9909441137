// What a packed copy lost.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/ops/packed_tensor.h"
#include "worker/model/saved.h"

namespace agoq {

// Rows restored at a time; whole blocks for any number of elements of a row.
constexpr std::int64_t SavedErrorRows(const QuantSpec& spec, std::int64_t num_rows) {
  return spec.block < num_rows ? spec.block : num_rows;
}

// sums += those of `packed`, a copy of `x_TE`. Holds SavedErrorRows rows in fp32 (fp64 for fp64)
// meanwhile. Blocks that are not finite are left out.
void AddSavedError(const at::Tensor& x_TE, const PackedTensor& packed, SiteErrorSums& sums);

}  // namespace agoq
