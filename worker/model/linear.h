// The only caller of matrix products.
// Shapes: T tokens, I input features, O output features.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq {

// What enters a product: a tensor, row-strided, in the compute type, times `scale`.
struct Operand {
  at::Tensor tensor;
  double scale = 1.0;
};

// y = x W^T, with the weight's rows as Hugging Face stores them. A view: cheap to make and to copy.
// Products allocate nothing; outputs are written, never resized.
class Linear {
 public:
  explicit Linear(at::Tensor weight_OI);

  const at::Tensor& weight() const { return weight_OI_; }

  void Forward(const Operand& x_TI, const at::Tensor& out_TO) const;
  // out = residual + x W^T; `out` is not `residual`.
  void ForwardAdd(const Operand& x_TI, const at::Tensor& residual_TO,
                  const at::Tensor& out_TO) const;
  void InputGradient(const Operand& grad_TO, const at::Tensor& grad_x_TI) const;
  static void WeightGradient(const Operand& grad_TO, const Operand& x_TI,
                             const at::Tensor& grad_weight_OI);
  // grad_weight += the same.
  static void WeightGradientAdd(const Operand& grad_TO, const Operand& x_TI,
                                const at::Tensor& grad_weight_OI);

 private:
  at::Tensor weight_OI_;
};

}  // namespace agoq
