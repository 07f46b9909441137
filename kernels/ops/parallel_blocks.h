// Runs a kernel over the blocks of a tensor on LibTorch's threads.
#pragma once

#include <ATen/Parallel.h>

#include <cstdint>
#include <mutex>

#include "kernels/ops/rows_of.h"
#include "kernels/quant_spec.h"
#include "kernels/ref/block_view.h"
#include "kernels/ref/non_finite.h"

namespace agoq::ops {

// visit(range) for ranges that cover all blocks of num_elements.
template <class Visit>
void ForBlocks(const QuantSpec& spec, std::int64_t num_elements, const Visit& visit) {
  at::parallel_for(0, NumBlocks(spec, num_elements), GrainBlocks(spec),
                   [&](std::int64_t begin, std::int64_t end) {
                     visit(ref::BlockRange{.begin = begin, .end = end});
                   });
}

// As above; merges the NonFinite that visit returns into *record (may be null).
template <class Visit>
void ForBlocksRecording(const QuantSpec& spec, std::int64_t num_elements, NonFinite* record,
                        const Visit& visit) {
  std::mutex mutex;
  NonFinite seen;  // guarded by mutex
  ForBlocks(spec, num_elements, [&](ref::BlockRange range) {
    const NonFinite part = visit(range);
    if (!part.any()) return;
    const std::lock_guard lock(mutex);
    seen.Merge(part);
  });
  if (record != nullptr) record->Merge(seen);
}

}  // namespace agoq::ops
