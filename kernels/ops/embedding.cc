#include "kernels/ops/embedding.h"
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <cstring>
namespace agoq::ops {
void Embedding(const EmbeddingArgs& a) {
  const int64_t d = a.out_TD.size(1); const int64_t* ids = a.ids_T.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.out_TD.scalar_type(), "Embedding", [&] { for (int64_t t = 0; t < a.ids_T.numel(); ++t) std::memcpy(a.out_TD.mutable_data_ptr<scalar_t>() + t * a.out_TD.stride(0), a.table_VD.const_data_ptr<scalar_t>() + ids[t] * a.table_VD.stride(0), d * sizeof(scalar_t)); });
}
void EmbeddingBackward(const EmbeddingBackwardArgs& a) {
  const int64_t d = a.grad_TD.size(1); const int64_t* ids = a.ids_T.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, a.grad_TD.scalar_type(), "EmbeddingBackward", [&] { using A = at::opmath_type<scalar_t>;
    for (int64_t t = 0; t < a.ids_T.numel(); ++t) { const scalar_t* g = a.grad_TD.const_data_ptr<scalar_t>() + t * a.grad_TD.stride(0); A* o = a.grad_table_VD.mutable_data_ptr<A>() + ids[t] * a.grad_table_VD.stride(0); for (int64_t i = 0; i < d; ++i) o[i] += A(g[i]); } });
}
}
