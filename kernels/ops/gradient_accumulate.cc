#include "kernels/ops/gradient_accumulate.h"

#include "kernels/ops/parallel_blocks.h"
#include "kernels/ops/rows_of.h"
#include "kernels/ref/gradient_accumulate.h"

namespace agoq::ops {

void GradientAccumulate(const GradientAccumulateArgs& args) {
  const ref::AccumulateBlocksArgs blocks{
      .store = args.store,
      .gradient = RowsOf(args.gradient, "gradient accumulate: gradient"),
      .mode = args.mode,
      .tensor_id = args.tensor_id};
  RequireElements(args.store, blocks.gradient.num_elements(), "gradient accumulate: store");
  ForBlocksRecording(args.store.spec, args.store.num_elements, args.record,
                     [&](ref::BlockRange range) { return ref::AccumulateBlocks(blocks, range); });
}

}  // namespace agoq::ops
