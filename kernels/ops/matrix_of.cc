#include "kernels/ops/matrix_of.h"

#include <sstream>
#include <stdexcept>
#include <string>

#include "kernels/ops/rows_of.h"

namespace agoq::ops {
namespace {

template <class Error = std::invalid_argument, class... Parts>
[[noreturn]] void Refuse(std::string_view name, const Parts&... parts) {
  std::ostringstream message;
  message << name << ": ";
  (message << ... << parts);
  throw Error(message.str());
}

const char* NameOf(ref::ElementType type) {
  switch (type) {
    case ref::ElementType::kFloat32:
      return "fp32";
    case ref::ElementType::kBfloat16:
      return "bf16";
    case ref::ElementType::kFloat64:
      return "fp64";
  }
  return "unknown";
}

void RequireType(ref::ElementType actual, ref::ElementType expected, std::string_view name) {
  if (actual == expected) return;
  Refuse(name, "type ", NameOf(actual), "; pass ", NameOf(expected));
}

}  // namespace

ref::RowsView MatrixOf(const at::Tensor& tensor, std::string_view name) {
  ref::RowsView view = RowsOf(tensor, name);
  if (tensor.dim() != 2) Refuse(name, "sizes ", tensor.sizes(), "; pass a 2-D tensor");
  view.rows = tensor.size(0);
  view.columns = tensor.size(1);
  view.row_stride = tensor.is_contiguous() ? view.columns : tensor.stride(0);
  return view;
}

ref::RowsView MatrixLike(const ref::RowsView& like, const at::Tensor& tensor,
                         std::string_view name) {
  const ref::RowsView view = MatrixOf(tensor, name);
  RequireType(view.type, like.type, name);
  if (view.rows != like.rows || view.columns != like.columns) {
    Refuse(name, "sizes ", tensor.sizes(), "; pass [", like.rows, ", ", like.columns, "]");
  }
  return view;
}

void* VectorOf(const at::Tensor& tensor, ref::ElementType type, std::int64_t size,
               std::string_view name) {
  const ref::RowsView view = RowsOf(tensor, name);
  RequireType(view.type, type, name);
  if (tensor.dim() != 1 || !tensor.is_contiguous() || tensor.size(0) != size) {
    Refuse(name, "sizes ", tensor.sizes(), " with strides ", tensor.strides(),
           "; pass a contiguous [", size, "]");
  }
  return view.elements;
}

const std::int64_t* IndicesOf(const at::Tensor& tensor, std::int64_t size, std::string_view name) {
  if (!tensor.defined()) Refuse(name, "undefined tensor; pass one");
  if (!tensor.is_cpu()) Refuse(name, "on ", tensor.device(), "; move it to the CPU");
  if (tensor.scalar_type() != at::kLong) {
    Refuse(name, "type ", tensor.scalar_type(), "; convert it to int64");
  }
  if (tensor.dim() != 1 || !tensor.is_contiguous() || tensor.size(0) != size) {
    Refuse(name, "sizes ", tensor.sizes(), " with strides ", tensor.strides(),
           "; pass a contiguous [", size, "]");
  }
  return tensor.const_data_ptr<std::int64_t>();
}

void RequireInRange(const std::int64_t* indices, std::int64_t size, const IndexRange& range,
                    std::string_view name) {
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t id = indices[i];
    if ((id >= 0 && id < range.limit) || id == range.except) continue;
    Refuse<std::out_of_range>(name, "position ", i, " holds ", id, ", the limit is ",
                              range.limit - 1, "; pass ids from 0 to that limit");
  }
}

}  // namespace agoq::ops
