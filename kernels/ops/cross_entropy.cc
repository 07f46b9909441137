#include "kernels/ops/cross_entropy.h"
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/OpMathType.h>
#include <cmath>
#include <vector>
namespace agoq::ops {
double CrossEntropy(const CrossEntropyArgs& a) {
  const int64_t n = a.logits_TV.size(0), v = a.logits_TV.size(1); const int64_t* y = a.targets_T.const_data_ptr<int64_t>(); std::vector<double> loss(n);
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.logits_TV.scalar_type(), "CrossEntropy", [&] {
    using A = at::opmath_type<scalar_t>; const bool grad = a.mode == CrossEntropyMode::kLossAndGradient;
    at::parallel_for(0, n, 16, [&](int64_t b, int64_t e) { for (int64_t t = b; t < e; ++t) {
      scalar_t* x = a.logits_TV.mutable_data_ptr<scalar_t>() + t * a.logits_TV.stride(0);
      if (y[t] == a.ignore_index) { if (grad) for (int64_t i = 0; i < v; ++i) x[i] = scalar_t(0); continue; }
      A m = x[0]; for (int64_t i = 1; i < v; ++i) m = std::max(m, A(x[i]));
      A s = 0; for (int64_t i = 0; i < v; ++i) s += std::exp(A(x[i]) - m);
      loss[t] = double(std::log(s) + m - A(x[y[t]]));
      if (!grad) continue;
      for (int64_t i = 0; i < v; ++i) x[i] = scalar_t((std::exp(A(x[i]) - m) / s - (i == y[t] ? A(1) : A(0))) * A(a.scale)); } });
  });
  double sum = 0; for (double l : loss) sum += l; return sum;
}
}
