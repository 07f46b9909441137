#include "worker/model/saved.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"
#include "worker/memory/counting_allocator.h"
#include "worker/model/saved_error.h"

namespace agoq {
namespace {

PackedTensor Pack(const at::Tensor& x_TE, Site site, const SaveContext& context) {
  const LabelScope label(LabelOf(site));
  return ops::Quantize(x_TE, context.plan.at(site).spec,
                       context.first_tensor_id + static_cast<std::int32_t>(site),
                       context.non_finite);
}

bool OwnsItsStorage(const at::Tensor& x) {
  return x.is_contiguous() && x.storage().nbytes() == x.nbytes();
}

at::Tensor OwnCopy(const at::Tensor& x_TE, Site site) {
  const LabelScope label(LabelOf(site));
  const at::Tensor copy_TE = at::empty(x_TE.sizes(), x_TE.scalar_type());
  copy_TE.copy_(x_TE);
  return copy_TE;
}

}  // namespace

at::Tensor SavedTensor::Take(at::ScalarType type) {
  if (is_full()) return std::exchange(full_TE_, at::Tensor());
  const at::Tensor out_TE = ops::Dequantize(packed_, type);
  packed_ = PackedTensor();
  return out_TE;
}

void SavedTensor::TakeInto(const at::Tensor& out_TE) {
  ops::Dequantize(packed_, out_TE);
  packed_ = PackedTensor();
}

SavedTensor SaveView(const at::Tensor& x_TE, Site site, const SaveContext& context) {
  SavedTensor saved;
  switch (context.plan.at(site).kind) {
    case PolicyKind::kRecompute:
      break;
    case PolicyKind::kFull:
      saved.full_TE_ = x_TE;
      break;
    case PolicyKind::kPacked:
      saved.packed_ = Pack(x_TE, site, context);
      if (context.errors != nullptr) {
        AddSavedError(x_TE, saved.packed_, (*context.errors)[static_cast<std::size_t>(site)]);
      }
      break;
  }
  return saved;
}

SavedTensor Save(const at::Tensor& x_TE, Site site, const SaveContext& context) {
  SavedTensor saved = SaveView(x_TE, site, context);
  if (!saved.is_full()) return saved;
  if (!OwnsItsStorage(x_TE)) {
    saved.full_TE_ = OwnCopy(x_TE, site);
    return saved;
  }
  Relabel(x_TE.storage(), {{LabelOf(site), static_cast<std::int64_t>(x_TE.nbytes())}});
  return saved;
}

}  // namespace agoq
