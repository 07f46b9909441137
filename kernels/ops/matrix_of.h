// The tensors of an op, checked and seen as rows. Each check throws std::invalid_argument that
// starts with `name`, as in "RMSNorm: x".
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/ref/rows_view.h"

namespace agoq::ops {

// tensor: 2-D; else as RowsOf wants it.
ref::RowsView MatrixOf(const at::Tensor& tensor, std::string_view name);
// As above, and of the type and sizes of `like`.
ref::RowsView MatrixLike(const ref::RowsView& like, const at::Tensor& tensor,
                         std::string_view name);

// tensor: 1-D, contiguous, of `type` and with `size` elements.
void* VectorOf(const at::Tensor& tensor, ref::ElementType type, std::int64_t size,
               std::string_view name);

// tensor: int64, 1-D, contiguous, on the CPU, with `size` elements.
const std::int64_t* IndicesOf(const at::Tensor& tensor, std::int64_t size, std::string_view name);

// std::out_of_range that names position, id and limit, for the first index that is neither in
// [0, limit) nor `except`.
struct IndexRange {
  std::int64_t limit = 0;
  std::optional<std::int64_t> except = std::nullopt;
};
void RequireInRange(const std::int64_t* indices, std::int64_t size, const IndexRange& range,
                    std::string_view name);

// The type of sums over elements of `type`: fp64 for fp64, else fp32.
constexpr ref::ElementType SumType(ref::ElementType type) {
  return type == ref::ElementType::kFloat64 ? type : ref::ElementType::kFloat32;
}

// Rows a thread takes at least: small tensors run inline.
constexpr std::int64_t GrainRows(const ref::RowsView& view, std::int64_t grain_elements) {
  return view.columns >= grain_elements ? 1 : grain_elements / (view.columns + (view.columns == 0));
}

}  // namespace agoq::ops
