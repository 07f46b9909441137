// Rows of a table by id, and the table's gradient.
// Shapes: T tokens, V vocabulary, D elements of a row.
//
// Tensors are on the CPU; ids are int64, 1-D and contiguous; the others may be strided from row to
// row. Both ops throw std::invalid_argument for another type, size or layout, and
// std::out_of_range, with position, id and limit, for an id outside the table; before anything is
// written. No ATen allocation.
#pragma once

#include <ATen/core/Tensor.h>

namespace agoq::ops {

struct EmbeddingArgs {
  at::Tensor ids_T;
  at::Tensor table_VD;  // fp32, bf16 or fp64
  at::Tensor out_TD;    // of the table's type; overlaps it nowhere
};

// out[t] = table[ids[t]].
void Embedding(const EmbeddingArgs& args);

struct EmbeddingBackwardArgs {
  at::Tensor ids_T;
  at::Tensor grad_TD;        // fp32, bf16 or fp64
  at::Tensor grad_table_VD;  // added to; fp32, or fp64 for fp64
};

// grad_table[ids[t]] += grad[t], in token order, whatever the number of threads.
void EmbeddingBackward(const EmbeddingBackwardArgs& args);

}  // namespace agoq::ops
