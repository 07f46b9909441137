#include "kernels/ops/rows_of.h"

#include <sstream>
#include <stdexcept>
#include <string>

namespace agoq::ops {
namespace {

template <class... Parts>
[[noreturn]] void Refuse(std::string_view name, const Parts&... parts) {
  std::ostringstream message;
  message << name << ": ";
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

ref::ElementType TypeOf(const at::Tensor& tensor, std::string_view name) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ref::ElementType::kFloat32;
    case at::kBFloat16:
      return ref::ElementType::kBfloat16;
    case at::kDouble:
      return ref::ElementType::kFloat64;
    default:
      Refuse(name, "type ", tensor.scalar_type(), "; convert it to fp32, bf16 or fp64");
  }
}

bool HasContiguousRows(const at::Tensor& tensor) {
  return tensor.dim() == 2 && (tensor.stride(1) == 1 || tensor.size(1) == 1) &&
         tensor.stride(0) >= tensor.size(1);
}

}  // namespace

ref::RowsView RowsOf(const at::Tensor& tensor, std::string_view name) {
  if (!tensor.defined()) Refuse(name, "undefined tensor; pass one");
  if (!tensor.is_cpu()) Refuse(name, "on ", tensor.device(), "; move it to the CPU");
  const ref::ElementType type = TypeOf(tensor, name);
  void* const elements = const_cast<void*>(tensor.const_data_ptr());
  const std::int64_t n = tensor.numel();
  if (tensor.is_contiguous()) {
    return {.elements = elements, .type = type, .rows = 1, .columns = n, .row_stride = n};
  }
  if (!HasContiguousRows(tensor)) {
    Refuse(name, "sizes ", tensor.sizes(), " with strides ", tensor.strides(),
           "; rows must be contiguous, call contiguous()");
  }
  return {.elements = elements,
          .type = type,
          .rows = tensor.size(0),
          .columns = tensor.size(1),
          .row_stride = tensor.stride(0)};
}

void RequireValidSpec(const QuantSpec& spec, std::string_view name) {
  if (IsValidBlock(spec.block)) return;
  Refuse(name, "block ", spec.block, "; use a power of two from ", kMinBlock, " to ", kMaxBlock);
}

void RequireElements(const QuantizedView& view, std::int64_t num_elements, std::string_view name) {
  RequireValidSpec(view.spec, name);
  if (view.num_elements != num_elements) {
    Refuse(name, "holds ", view.num_elements, " elements, expected ", num_elements,
           "; pass storage and tensor of the same size");
  }
  if (num_elements > 0 && (view.codes == nullptr || view.scales == nullptr)) {
    Refuse(name, "codes or scales are null; pass storage for ", num_elements, " elements");
  }
}

}  // namespace agoq::ops
