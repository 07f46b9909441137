#include "worker/model/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include <utility>

#include "worker/memory/counting_allocator.h"

namespace agoq {
namespace {

// The matrix library's scratch, freed before the product returns, is no more counted than the
// threads' stacks: how much there is depends on the CPU (none where a type has no instructions of
// its own; oneDNN with AVX512-BF16 takes up to 0.5 MB a thread). A plan's reserve is for it.
using UncountedScratch = LedgerScope;

// out = a b, with the operands' scales.
void Product(const at::Tensor& a, const at::Tensor& b, double scale, const at::Tensor& out) {
  const UncountedScratch scratch(nullptr);
  at::Tensor target = out;
  if (scale == 1.0) {
    at::mm_out(target, a, b);
    return;
  }
  at::addmm_out(target, out, a, b, /*beta=*/0, scale);
}

}  // namespace

Linear::Linear(at::Tensor weight_OI) : weight_OI_(std::move(weight_OI)) {}

void Linear::Forward(const Operand& x_TI, const at::Tensor& out_TO) const {
  Product(x_TI.tensor, weight_OI_.t(), x_TI.scale, out_TO);
}

void Linear::ForwardAdd(const Operand& x_TI, const at::Tensor& residual_TO,
                        const at::Tensor& out_TO) const {
  const UncountedScratch scratch(nullptr);
  at::Tensor target = out_TO;
  at::addmm_out(target, residual_TO, x_TI.tensor, weight_OI_.t(), /*beta=*/1, x_TI.scale);
}

void Linear::InputGradient(const Operand& grad_TO, const at::Tensor& grad_x_TI) const {
  Product(grad_TO.tensor, weight_OI_, grad_TO.scale, grad_x_TI);
}

void Linear::WeightGradient(const Operand& grad_TO, const Operand& x_TI,
                            const at::Tensor& grad_weight_OI) {
  Product(grad_TO.tensor.t(), x_TI.tensor, grad_TO.scale * x_TI.scale, grad_weight_OI);
}

void Linear::WeightGradientAdd(const Operand& grad_TO, const Operand& x_TI,
                               const at::Tensor& grad_weight_OI) {
  const UncountedScratch scratch(nullptr);
  at::Tensor target = grad_weight_OI;
  at::addmm_out(target, grad_weight_OI, grad_TO.tensor.t(), x_TI.tensor, /*beta=*/1,
                grad_TO.scale * x_TI.scale);
}

}  // namespace agoq
