// Sums of gradients over the ranks of a data-parallel group.
//
// Each bucket goes through an all-to-all (every rank gets all ranks' payload of its share), a sum
// in rank order, and an all-gather of the results; the all-to-all of the next bucket is under way
// during the sum. The result is byte-identical on all ranks. Work buffers are ATen tensors of the
// sizes in reduce_workspace.h. All ranks pass the same sizes and options. Errors: CommunicatorError
// of the communicator, after which the values are unspecified; std::invalid_argument for bad
// options.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "kernels/ref/quantized_view.h"
#include "worker/comm/communicator.h"
#include "worker/plan/reduce_workspace.h"

namespace agoq {

struct ReduceOptions {
  std::int64_t bucket_elements = kReduceBucketElements;
  double factor = 1.0;                                          // of the sum; positive
  std::chrono::milliseconds timeout = std::chrono::minutes(5);  // of each exchange
};

// flat = requantized (factor * sum over ranks, added in fp32 in rank order). flat.num_elements is a
// whole number of blocks. With one rank the scales are multiplied by the factor and the codes stay
// as they are.
void QuantizedAllReduce(Communicator& communicator, QuantizedView flat,
                        const ReduceOptions& options);

// values = factor * sum over ranks, added in the type of the values in rank order.
void ExactAllReduce(Communicator& communicator, std::span<float> values,
                    const ReduceOptions& options);
void ExactAllReduce(Communicator& communicator, std::span<double> values,
                    const ReduceOptions& options);

// The same values to the bit by a single all-gather, for few elements; `bucket_elements` plays no
// part.
void SmallAllReduce(Communicator& communicator, std::span<float> values,
                    const ReduceOptions& options);
void SmallAllReduce(Communicator& communicator, std::span<double> values,
                    const ReduceOptions& options);

}  // namespace agoq
