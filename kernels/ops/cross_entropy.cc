#include "kernels/ops/cross_entropy.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "kernels/ops/matrix_of.h"
#include "kernels/ref/cross_entropy_loops.h"

namespace agoq::ops {
namespace {

constexpr std::int64_t kGrainElements = 8192;

void RequireArguments(const CrossEntropyArgs& args, const ref::CrossEntropyRows& rows) {
  const ref::RowsView& logits = rows.logits_TV;
  std::ostringstream message;
  if (logits.columns == 0) {
    message << "cross-entropy: logits of sizes " << args.logits_TV.sizes()
            << "; the vocabulary is empty, pass at least one column";
  } else if (!std::isfinite(args.scale)) {
    message << "cross-entropy: scale " << args.scale << "; pass a finite one";
  } else {
    return RequireInRange(rows.targets_T, logits.rows,
                          {.limit = logits.columns, .except = args.ignore_index},
                          "cross-entropy: targets");
  }
  throw std::invalid_argument(message.str());
}

}  // namespace

double CrossEntropy(const CrossEntropyArgs& args) {
  const ref::RowsView logits = MatrixOf(args.logits_TV, "cross-entropy: logits");
  const ref::CrossEntropyRows rows{
      .logits_TV = logits,
      .targets_T = IndicesOf(args.targets_T, logits.rows, "cross-entropy: targets"),
      .ignore_index = args.ignore_index,
      .scale = args.scale};
  RequireArguments(args, rows);
  std::vector<double> loss_T(static_cast<std::size_t>(logits.rows));
  const ref::CrossEntropyLoops& loops = ref::BestLoops<ref::CrossEntropyLoops>();
  const auto run = args.mode == CrossEntropyMode::kLoss ? loops.loss : loops.loss_and_gradient;
  at::parallel_for(
      0, logits.rows, GrainRows(logits, kGrainElements),
      [&](std::int64_t begin, std::int64_t end) { run(rows, begin, end, loss_T.data()); });
  double sum = 0.0;
  for (const double loss : loss_T) sum += loss;
  return sum;
}

}  // namespace agoq::ops
