#include "kernels/ref/embedding_loops.h"

#include "kernels/ref/element.h"

namespace agoq::ref {
namespace {

template <class T>
void AddRow(const T* __restrict grad, std::int64_t begin, std::int64_t end,
            Compute<T>* __restrict sum) {
  for (std::int64_t i = begin; i < end; ++i) sum[i] += Load(grad[i]);
}

void AddColumns(const EmbeddingGradientRows& rows, std::int64_t begin, std::int64_t end) {
  VisitType(rows.grad_TD.type, [&]<class T>(T) {
    for (std::int64_t row = 0; row < rows.grad_TD.rows; ++row) {
      AddRow(RowOf<const T>(rows.grad_TD, row), begin, end,
             RowOf<Compute<T>>(rows.grad_table_VD, rows.ids_T[row]));
    }
  });
}

}  // namespace

template <>
const EmbeddingLoops& TableOf<EmbeddingLoops, AGOQ_LOOP_VARIANT>() {
  static constexpr EmbeddingLoops kTable{.add_columns = AddColumns};
  return kTable;
}

}  // namespace agoq::ref
