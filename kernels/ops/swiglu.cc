#include "kernels/ops/swiglu.h"
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/OpMathType.h>
#include <cmath>
namespace agoq::ops {
void SwiGlu(const SwiGluArgs& a) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.gate_TF.scalar_type(), "SwiGlu", [&] {
    using A = at::opmath_type<scalar_t>;
    at::parallel_for(0, a.gate_TF.size(0), 16, [&](int64_t b, int64_t e) { for (int64_t t = b; t < e; ++t) {
      const scalar_t* g = a.gate_TF.const_data_ptr<scalar_t>() + t * a.gate_TF.stride(0); const scalar_t* u = a.up_TF.const_data_ptr<scalar_t>() + t * a.up_TF.stride(0); scalar_t* o = a.out_TF.mutable_data_ptr<scalar_t>() + t * a.out_TF.stride(0);
      for (int64_t i = 0; i < a.gate_TF.size(1); ++i) o[i] = scalar_t(A(g[i]) / (A(1) + std::exp(-A(g[i]))) * A(u[i])); } });
  });
}
void SwiGluBackward(const SwiGluBackwardArgs& a) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.gate_TF.scalar_type(), "SwiGluBackward", [&] {
    using A = at::opmath_type<scalar_t>;
    at::parallel_for(0, a.gate_TF.size(0), 16, [&](int64_t b, int64_t e) { for (int64_t t = b; t < e; ++t) {
      const scalar_t* g = a.gate_TF.const_data_ptr<scalar_t>() + t * a.gate_TF.stride(0); const scalar_t* u = a.up_TF.const_data_ptr<scalar_t>() + t * a.up_TF.stride(0); scalar_t* p = a.product_TF.mutable_data_ptr<scalar_t>() + t * a.product_TF.stride(0);
      scalar_t* dg = a.grad_gate_TF.mutable_data_ptr<scalar_t>() + t * a.grad_gate_TF.stride(0); scalar_t* du = a.grad_up_TF.mutable_data_ptr<scalar_t>() + t * a.grad_up_TF.stride(0);
      for (int64_t i = 0; i < a.gate_TF.size(1); ++i) { const A x = g[i], y = u[i], d = p[i]; const A s = A(1) / (A(1) + std::exp(-x)); const A silu = x * s;
        p[i] = scalar_t(silu * y); dg[i] = scalar_t(d * y * s * (A(1) + x * (A(1) - s))); du[i] = scalar_t(d * silu); } } });
  });
}
}
