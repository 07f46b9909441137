// Rows of a table by id.
// Shapes: T tokens, V vocabulary, D elements of a row.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct EmbeddingArgs {
  at::Tensor ids_T;
  at::Tensor table_VD;
  at::Tensor out_TD;
};

void Embedding(const EmbeddingArgs& args);

struct EmbeddingBackwardArgs {
  at::Tensor ids_T;
  at::Tensor grad_TD;
  at::Tensor grad_table_VD;  // added to; fp32 or fp64
};

void EmbeddingBackward(const EmbeddingBackwardArgs& args);

}  // namespace agoq::ops
