#include "kernels/ops/rmsnorm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/rmsnorm_loops.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 16384;
// The weight's gradient is summed over this many ranges of rows, whatever the number of threads.
constexpr std::int64_t kRowChunks = 16;

void RequireEpsilon(double epsilon) {
  if (epsilon >= 0.0 && std::isfinite(epsilon)) return;
  std::ostringstream message;
  message << "RMSNorm: epsilon " << epsilon << "; pass the model's, which is not negative";
  throw std::invalid_argument(message.str());
}

template <class Sum>
void SumGradient(const ref::RmsNormGradientRows& rows, Sum* grad_weight_D) {
  const ref::RowsView& x = rows.x_TD;
  const std::int64_t chunks = std::clamp<std::int64_t>(x.rows, 1, kRowChunks);
  const std::int64_t chunk_rows = (x.rows + chunks - 1) / chunks;
  std::vector<Sum> partial(static_cast<std::size_t>(chunks * x.columns));
  const auto grain = std::max<std::int64_t>(
      1, GrainRows(x, kGrainElements) / std::max<std::int64_t>(chunk_rows, 1));
  const ref::RmsNormLoops& loops = ref::BestLoops<ref::RmsNormLoops>();
  at::parallel_for(0, chunks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      loops.backward(rows, std::min(chunk * chunk_rows, x.rows),
                     std::min((chunk + 1) * chunk_rows, x.rows), &partial[chunk * x.columns]);
    }
  });
  std::copy_n(partial.data(), x.columns, grad_weight_D);
  for (std::int64_t i = x.columns; i < chunks * x.columns; ++i) {
    grad_weight_D[i % x.columns] += partial[i];
  }
}

}  // namespace

void RmsNorm(const RmsNormArgs& args) {
  const ref::RowsView x = MatrixOf(args.x_TD, "RMSNorm: x");
  const ref::RmsNormRows rows{
      .x_TD = x,
      .weight_D = VectorOf(args.weight_D, x.type, x.columns, "RMSNorm: weight"),
      .epsilon = args.epsilon,
      .out_TD = MatrixLike(x, args.out_TD, "RMSNorm: out")};
  RequireEpsilon(args.epsilon);
  if (x.num_elements() == 0) return;
  const ref::RmsNormLoops& loops = ref::BestLoops<ref::RmsNormLoops>();
  at::parallel_for(0, x.rows, GrainRows(x, kGrainElements),
                   [&](std::int64_t begin, std::int64_t end) { loops.forward(rows, begin, end); });
}

void RmsNormBackward(const RmsNormBackwardArgs& args) {
  const ref::RowsView x = MatrixOf(args.x_TD, "RMSNorm backward: x");
  const ref::RmsNormGradientRows rows{
      .x_TD = x,
      .weight_D = VectorOf(args.weight_D, x.type, x.columns, "RMSNorm backward: weight"),
      .epsilon = args.epsilon,
      .grad_out_TD = MatrixLike(x, args.grad_out_TD, "RMSNorm backward: grad_out"),
      .grad_x_TD = MatrixLike(x, args.grad_x_TD, "RMSNorm backward: grad_x")};
  void* const grad_weight_D =
      VectorOf(args.grad_weight_D, SumType(x.type), x.columns, "RMSNorm backward: grad_weight");
  RequireEpsilon(args.epsilon);
  if (x.columns == 0) return;
  if (x.type == ref::ElementType::kFloat64) {
    return SumGradient(rows, static_cast<double*>(grad_weight_D));
  }
  SumGradient(rows, static_cast<float*>(grad_weight_D));
}

}  // namespace agoq::ops
