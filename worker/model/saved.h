// The one place that keeps a tensor by its policy.
// Shapes: T tokens, E elements of a token.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "kernels/ops/packed_tensor.h"
#include "kernels/ref/non_finite.h"
#include "worker/plan/bit_plan.h"

namespace agoq {

// Of a site's stored copies: sums over elements of (copy - original)^2 and original^2.
struct SiteErrorSums {
  double squared_error = 0;
  double squared_signal = 0;
};
using LayerErrorSums = std::array<SiteErrorSums, kNumSites>;

// How one layer's forward keeps its sites. Everything is borrowed for the call.
struct SaveContext {
  const LayerPlan& plan;
  std::int32_t first_tensor_id = 0;  // of the layer's first site, in `non_finite`
  NonFinite* non_finite = nullptr;   // may be null
  LayerErrorSums* errors = nullptr;  // null: errors are not measured
};

class SavedTensor {
 public:
  SavedTensor() = default;

  bool kept() const { return full_TE_.defined() || packed_.defined(); }
  bool is_full() const { return full_TE_.defined(); }

  // Gives the tensor back and keeps nothing: itself when full, else a new one of `type`.
  at::Tensor Take(at::ScalarType type);
  // The same into given memory, for a packed tensor.
  void TakeInto(const at::Tensor& out_TE);

 private:
  friend SavedTensor Save(const at::Tensor&, Site, const SaveContext&);
  friend SavedTensor SaveView(const at::Tensor&, Site, const SaveContext&);

  at::Tensor full_TE_;
  PackedTensor packed_;
};

// Keeps `x_TE` as the context's plan says for the site; under `recompute` the result keeps nothing.
// When full it is kept by reference, and its storage is charged to the site; a view of a larger
// storage is copied instead.
SavedTensor Save(const at::Tensor& x_TE, Site site, const SaveContext& context);

// The same, but a full view is kept as a view: for sites that share one storage and are all full.
// The caller charges the storage.
SavedTensor SaveView(const at::Tensor& x_TE, Site site, const SaveContext& context);

}  // namespace agoq
