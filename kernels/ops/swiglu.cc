#include "kernels/ops/swiglu.h"

#include <ATen/Parallel.h>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/swiglu_loops.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 8192;

}  // namespace

void SwiGlu(const SwiGluArgs& args) {
  const ref::RowsView gate = MatrixOf(args.gate_TF, "SwiGLU: gate");
  const ref::SwiGluRows rows{.gate_TF = gate,
                             .up_TF = MatrixLike(gate, args.up_TF, "SwiGLU: up"),
                             .out_TF = MatrixLike(gate, args.out_TF, "SwiGLU: out")};
  const ref::SwiGluLoops& loops = ref::BestLoops<ref::SwiGluLoops>();
  at::parallel_for(0, gate.rows, GrainRows(gate, kGrainElements),
                   [&](std::int64_t begin, std::int64_t end) { loops.forward(rows, begin, end); });
}

void SwiGluBackward(const SwiGluBackwardArgs& args) {
  const ref::RowsView gate = MatrixOf(args.gate_TF, "SwiGLU backward: gate");
  const ref::SwiGluGradientRows rows{
      .gate_TF = gate,
      .up_TF = MatrixLike(gate, args.up_TF, "SwiGLU backward: up"),
      .product_TF = MatrixLike(gate, args.product_TF, "SwiGLU backward: product"),
      .grad_gate_TF = MatrixLike(gate, args.grad_gate_TF, "SwiGLU backward: grad_gate"),
      .grad_up_TF = MatrixLike(gate, args.grad_up_TF, "SwiGLU backward: grad_up")};
  const ref::SwiGluLoops& loops = ref::BestLoops<ref::SwiGluLoops>();
  at::parallel_for(0, gate.rows, GrainRows(gate, kGrainElements),
                   [&](std::int64_t begin, std::int64_t end) { loops.backward(rows, begin, end); });
}

}  // namespace agoq::ops
