#include "kernels/ops/embedding.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/embedding_loops.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 32768;
constexpr std::int64_t kGradientGrainElements = 262144;  // threads pass over all rows
constexpr std::int64_t kColumnBlock = 32;  // whole cache lines, so that threads share none

void RequireColumns(const ref::RowsView& table, ref::ElementType type, const ref::RowsView& rows,
                    const char* name) {
  if (table.type == type && table.columns == rows.columns) return;
  std::ostringstream message;
  message << name << ": rows of " << table.columns << " elements, or their type, do not match rows "
          << "of " << rows.columns << " elements; pass tensors of one row size, and a table of the "
          << "rows' type (a gradient table of fp32, or fp64 for fp64 rows)";
  throw std::invalid_argument(message.str());
}

// In bytes.
std::size_t SizeOf(ref::ElementType type) {
  if (type == ref::ElementType::kBfloat16) return 2;
  return type == ref::ElementType::kFloat32 ? 4 : 8;
}

}  // namespace

void Embedding(const EmbeddingArgs& args) {
  const ref::RowsView out = MatrixOf(args.out_TD, "embedding: out");
  const ref::RowsView table = MatrixOf(args.table_VD, "embedding: table");
  RequireColumns(table, out.type, out, "embedding: table");
  const std::int64_t* const ids = IndicesOf(args.ids_T, out.rows, "embedding: ids");
  RequireInRange(ids, out.rows, {.limit = table.rows}, "embedding: ids");
  const std::size_t size = SizeOf(out.type);
  const auto row_bytes = static_cast<std::size_t>(out.columns) * size;
  const auto row_of = [size](const ref::RowsView& view, std::int64_t row) {
    return static_cast<char*>(view.elements) +
           static_cast<std::size_t>(row * view.row_stride) * size;
  };
  if (row_bytes == 0) return;
  at::parallel_for(0, out.rows, GrainRows(out, kGrainElements),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       std::memcpy(row_of(out, row), row_of(table, ids[row]), row_bytes);
                     }
                   });
}

// Threads share the columns, so that each row of the table is summed in token order.
void EmbeddingBackward(const EmbeddingBackwardArgs& args) {
  const ref::RowsView grad = MatrixOf(args.grad_TD, "embedding backward: grad");
  const ref::RowsView table = MatrixOf(args.grad_table_VD, "embedding backward: grad_table");
  RequireColumns(table, SumType(grad.type), grad, "embedding backward: grad_table");
  const std::int64_t* const ids = IndicesOf(args.ids_T, grad.rows, "embedding backward: ids");
  RequireInRange(ids, grad.rows, {.limit = table.rows}, "embedding backward: ids");
  const ref::EmbeddingGradientRows rows{.ids_T = ids, .grad_TD = grad, .grad_table_VD = table};
  const ref::EmbeddingLoops& loops = ref::BestLoops<ref::EmbeddingLoops>();
  const std::int64_t grain = std::max<std::int64_t>(
      1, kGradientGrainElements / (kColumnBlock * std::max<std::int64_t>(grad.rows, 1)));
  const std::int64_t blocks = (grad.columns + kColumnBlock - 1) / kColumnBlock;
  at::parallel_for(0, blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    loops.add_columns(rows, begin * kColumnBlock, std::min(end * kColumnBlock, grad.columns));
  });
}

}  // namespace agoq::ops
