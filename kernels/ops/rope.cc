#include "kernels/ops/rope.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/rope_loops.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 16384;

template <class... Parts>
[[noreturn]] void Refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

void RequireHeadSize(std::int64_t head_size) {
  if (head_size > 0 && head_size % 2 == 0) return;
  Refuse("rope: head_size ", head_size, "; pass a positive even number");
}

// Angles in double; the entry alone is rounded.
template <class T>
void Fill(const RopeTableArgs& args, const RopeTable& table) {
  T* const cos = table.cos.mutable_data_ptr<T>();
  T* const sin = table.sin.mutable_data_ptr<T>();
  const std::int64_t half = args.head_size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double frequency =
        std::pow(args.theta, -2.0 * static_cast<double>(i) / static_cast<double>(args.head_size));
    for (std::int64_t position = 0; position < args.num_positions; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cos[position * half + i] = static_cast<T>(std::cos(angle));
      sin[position * half + i] = static_cast<T>(std::sin(angle));
    }
  }
}

// Of the type that `rows` are computed in, contiguous, [positions, head_size / 2]; returns the
// number of positions.
std::int64_t RequireTable(const RopeTable& table, const ref::RowsView& rows,
                          std::int64_t head_size) {
  const ref::RowsView cos = MatrixOf(table.cos, "rope: table.cos");
  MatrixLike(cos, table.sin, "rope: table.sin");
  if (cos.type != SumType(rows.type)) {
    Refuse("rope: table of type ", table.cos.scalar_type(),
           "; make an fp64 one for fp64 tensors, else an fp32 one");
  }
  if (cos.columns * 2 != head_size || !table.cos.is_contiguous() || !table.sin.is_contiguous()) {
    Refuse("rope: table of ", cos.columns, " columns for head_size ", head_size,
           "; make a contiguous one for this head_size");
  }
  return cos.rows;
}

}  // namespace

RopeTable MakeRopeTable(const RopeTableArgs& args) {
  RequireHeadSize(args.head_size);
  if (args.num_positions < 0) {
    Refuse("rope table: num_positions ", args.num_positions, "; pass the longest sequence");
  }
  if (!(args.theta > 0.0) || !std::isfinite(args.theta)) {
    Refuse("rope table: theta ", args.theta, "; pass a positive number");
  }
  if (args.type != at::kFloat && args.type != at::kDouble) {
    Refuse("rope table: type ", args.type, "; pass fp32 or fp64");
  }
  const RopeTable table{.cos = at::empty({args.num_positions, args.head_size / 2}, args.type),
                        .sin = at::empty({args.num_positions, args.head_size / 2}, args.type)};
  args.type == at::kFloat ? Fill<float>(args, table) : Fill<double>(args, table);
  return table;
}

void Rope(const RopeArgs& args) {
  const ref::RowsView in = MatrixOf(args.in_TE, "rope: in");
  const ref::RowsView out = MatrixLike(in, args.out_TE, "rope: out");
  RequireHeadSize(args.head_size);
  if (in.columns % args.head_size != 0) {
    Refuse("rope: in has rows of ", in.columns, " elements, which is not a multiple of head_size ",
           args.head_size, "; pass whole heads");
  }
  const std::int64_t limit = RequireTable(args.table, in, args.head_size);
  const std::int64_t* const positions = IndicesOf(args.positions_T, in.rows, "rope: positions");
  RequireInRange(positions, in.rows, {.limit = limit}, "rope: positions");
  const ref::RopeRows rows{.in_TE = in,
                           .out_TE = out,
                           .positions_T = positions,
                           .cos = args.table.cos.const_data_ptr(),
                           .sin = args.table.sin.const_data_ptr(),
                           .head_size = args.head_size,
                           .backward = args.direction == RopeDirection::kBackward};
  const ref::RopeLoops& loops = ref::BestLoops<ref::RopeLoops>();
  at::parallel_for(0, in.rows, GrainRows(in, kGrainElements),
                   [&](std::int64_t begin, std::int64_t end) { loops.rotate(rows, begin, end); });
}

}  // namespace agoq::ops
