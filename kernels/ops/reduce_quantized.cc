#include "kernels/ops/reduce_quantized.h"

#include <stdexcept>
#include <string>

#include "kernels/ops/parallel_blocks.h"
#include "kernels/ops/rows_of.h"
#include "kernels/ref/reduce_quantized.h"

namespace agoq::ops {
namespace {

void RequireMatching(const QuantizedView& view, const ReduceQuantizedArgs& args,
                     const std::string& name) {
  RequireElements(view, args.num_elements, name);
  if (view.spec == args.spec) return;
  throw std::invalid_argument(
      name + ": stored as " + std::string(NameOf(view.spec.format)) + "/" +
      std::to_string(view.spec.block) + ", expected " + std::string(NameOf(args.spec.format)) +
      "/" + std::to_string(args.spec.block) + "; all ranks must store gradients alike");
}

}  // namespace

void ReduceQuantized(const ReduceQuantizedArgs& args) {
  if (args.payloads.empty()) {
    throw std::invalid_argument("reduce quantized: 0 payloads; pass one of each rank");
  }
  for (std::size_t rank = 0; rank < args.payloads.size(); ++rank) {
    RequireMatching(args.payloads[rank], args, "reduce quantized: payload " + std::to_string(rank));
  }
  RequireMatching(args.out, args, "reduce quantized: out");
  const ref::ReduceBlocksArgs blocks{
      .payloads = args.payloads, .factor = static_cast<float>(args.factor), .out = args.out};
  ForBlocks(args.spec, args.num_elements,
            [&](ref::BlockRange range) { ref::ReduceBlocks(blocks, range); });
}

}  // namespace agoq::ops
