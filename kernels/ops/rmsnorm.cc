#include "kernels/ops/rmsnorm.h"
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/OpMathType.h>
#include <cmath>
#include <vector>
namespace agoq::ops {
namespace {
template <class A, class F> A Sum(int64_t n, F f) { A l[8] = {}; int64_t i = 0; for (; i + 8 <= n; i += 8) for (int j = 0; j < 8; ++j) l[j] += f(i + j); for (; i < n; ++i) l[0] += f(i); return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7])); }
}
void RmsNorm(const RmsNormArgs& a) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.x_TD.scalar_type(), "RmsNorm", [&] {
    using A = at::opmath_type<scalar_t>;
    const int64_t d = a.x_TD.size(1); const scalar_t* w = a.weight_D.const_data_ptr<scalar_t>();
    at::parallel_for(0, a.x_TD.size(0), 64, [&](int64_t b, int64_t e) { for (int64_t t = b; t < e; ++t) {
      const scalar_t* x = a.x_TD.const_data_ptr<scalar_t>() + t * a.x_TD.stride(0); scalar_t* o = a.out_TD.mutable_data_ptr<scalar_t>() + t * a.out_TD.stride(0);
      const A r = A(1) / std::sqrt(Sum<A>(d, [&](int64_t i) { return A(x[i]) * A(x[i]); }) / A(d) + A(a.epsilon));
      for (int64_t i = 0; i < d; ++i) o[i] = scalar_t(A(x[i]) * r * A(w[i])); } });
  });
}
void RmsNormBackward(const RmsNormBackwardArgs& a) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.x_TD.scalar_type(), "RmsNormBackward", [&] {
    using A = at::opmath_type<scalar_t>;
    const int64_t d = a.x_TD.size(1), n = a.x_TD.size(0); const scalar_t* w = a.weight_D.const_data_ptr<scalar_t>();
    const int64_t chunks = 16, step = (n + chunks - 1) / chunks; std::vector<A> parts(chunks * d);
    at::parallel_for(0, chunks, 1, [&](int64_t cb, int64_t ce) { for (int64_t c = cb; c < ce; ++c) { A* p = parts.data() + c * d;
     for (int64_t t = c * step; t < std::min(n, (c + 1) * step); ++t) {
      const scalar_t* x = a.x_TD.const_data_ptr<scalar_t>() + t * a.x_TD.stride(0); const scalar_t* g = a.grad_out_TD.const_data_ptr<scalar_t>() + t * a.grad_out_TD.stride(0);
      scalar_t* o = a.grad_x_TD.mutable_data_ptr<scalar_t>() + t * a.grad_x_TD.stride(0);
      const A r = A(1) / std::sqrt(Sum<A>(d, [&](int64_t i) { return A(x[i]) * A(x[i]); }) / A(d) + A(a.epsilon));
      const A dot = Sum<A>(d, [&](int64_t i) { return A(g[i]) * A(w[i]) * A(x[i]); }) * r * r / A(d);
      for (int64_t i = 0; i < d; ++i) { p[i] += A(g[i]) * A(x[i]) * r; o[i] = scalar_t(A(o[i]) + r * (A(g[i]) * A(w[i]) - A(x[i]) * dot)); } } } });
    A* gw = a.grad_weight_D.mutable_data_ptr<A>();
    for (int64_t i = 0; i < d; ++i) { A s = 0; for (int64_t c = 0; c < chunks; ++c) s += parts[c * d + i]; gw[i] = s; }
  });
}
}
