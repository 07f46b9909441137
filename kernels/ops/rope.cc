#include "kernels/ops/rope.h"
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <cmath>
namespace agoq::ops {
RopeTable MakeRopeTable(const RopeTableArgs& a) {
  const int64_t h = a.head_size / 2; RopeTable t{at::empty({a.num_positions, h}, a.type), at::empty({a.num_positions, h}, a.type)};
  AT_DISPATCH_FLOATING_TYPES(a.type, "MakeRopeTable", [&] { for (int64_t p = 0; p < a.num_positions; ++p) for (int64_t i = 0; i < h; ++i) {
    const double angle = p * std::pow(a.theta, -2.0 * i / a.head_size); t.cos.mutable_data_ptr<scalar_t>()[p * h + i] = std::cos(angle); t.sin.mutable_data_ptr<scalar_t>()[p * h + i] = std::sin(angle); } });
  return t;
}
void Rope(const RopeArgs& a) {
  const int64_t h = a.head_size / 2, heads = a.in_TE.size(1) / a.head_size; const int64_t* pos = a.positions_T.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.in_TE.scalar_type(), "Rope", [&] {
    using A = at::opmath_type<scalar_t>; const A sign = a.direction == RopeDirection::kForward ? 1 : -1;
    at::parallel_for(0, a.in_TE.size(0), 64, [&](int64_t b, int64_t e) { for (int64_t t = b; t < e; ++t) {
      const A* c = a.table.cos.const_data_ptr<A>() + pos[t] * h; const A* s = a.table.sin.const_data_ptr<A>() + pos[t] * h;
      for (int64_t k = 0; k < heads; ++k) { const scalar_t* x = a.in_TE.const_data_ptr<scalar_t>() + t * a.in_TE.stride(0) + k * a.head_size; scalar_t* o = a.out_TE.mutable_data_ptr<scalar_t>() + t * a.out_TE.stride(0) + k * a.head_size;
        for (int64_t i = 0; i < h; ++i) { const A x1 = x[i], x2 = x[i + h]; o[i] = scalar_t(x1 * c[i] - x2 * s[i] * sign); o[i + h] = scalar_t(x2 * c[i] + x1 * s[i] * sign); } } } });
  });
}
}
