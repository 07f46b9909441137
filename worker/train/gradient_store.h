// A rank's weight gradients: packed at 8 bits, or exact as control; summed over micro-batches, then
// over ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/quant_spec.h"
#include "kernels/ref/non_finite.h"
#include "kernels/ref/quantized_view.h"
#include "worker/comm/communicator.h"
#include "worker/model/gradient_sink.h"
#include "worker/plan/gradient_layout.h"
#include "worker/plan/model_shape.h"

namespace agoq {

struct GradientStoreOptions {
  std::optional<QuantSpec> spec;  // none: the control store
  ComputeType compute = ComputeType::kFloat32;
};

// One of the two is there.
struct StoredGradient {
  QuantizedView quantized;  // codes null: exact
  at::Tensor exact;         // control type, in the parameter's shape
};

class GradientStore final : public GradientSink {
 public:
  // Borrows the list.
  GradientStore(const ParameterList& list, const GradientStoreOptions& options);

  // The next gradient of each parameter is written, later ones of the step are added.
  void StartStep();
  // A gradient that is not finite is recorded under the parameter's index.
  void Add(int parameter, const at::Tensor& gradient) override;
  // Of the step so far.
  const NonFinite& non_finite() const { return non_finite_; }

  // Sums over the ranks; every parameter must have come. The result is the same on all ranks to the
  // byte.
  void Reduce(Communicator& communicator, std::chrono::milliseconds timeout);
  // Tensor by tensor in order, so that it does not depend on the number of ranks.
  double SquaredNorm() const;

  StoredGradient gradient(int parameter) const;

 private:
  at::Tensor Exact(int parameter) const;
  QuantizedView Quantized(int parameter) const;
  QuantizedView FlatQuantized() const;
  void RecordNonFinite(int parameter, const at::Tensor& gradient);

  const ParameterList& list_;
  GradientStoreOptions options_;
  GradientLayout layout_;
  at::Tensor codes_;
  at::Tensor scales_;
  at::Tensor large_;
  at::Tensor small_;
  std::vector<bool> written_;  // this step, by parameter
  NonFinite non_finite_;
};

}  // namespace agoq
