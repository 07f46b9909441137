// Where a weight gradient goes the moment it exists.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq {

class GradientSink {
 public:
  virtual ~GradientSink() = default;
  // Takes one micro-batch's gradient of the parameter with this index of ParameterList; the memory
  // is the caller's again when the call returns. Row-strided, in the compute type or the control
  // type. Each parameter comes once in a micro-batch.
  virtual void Add(int parameter, const at::Tensor& gradient) = 0;
};

}  // namespace agoq
