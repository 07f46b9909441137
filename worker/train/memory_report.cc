#include "worker/train/memory_report.h"

#include <string>

namespace agoq {

MemoryModelInput MemoryInputOf(const TrainOptions& options, int rank, int num_ranks) {
  return {.model = options.model,
          .compute = options.compute,
          .gradient_spec = options.gradient_spec,
          .layers = options.plan.ranks[static_cast<std::size_t>(rank)].layers,
          .micro_batch_size = options.micro_batch_size,
          .micro_batches = options.micro_batches,
          .sequence_length = options.sequence_length,
          .num_ranks = num_ranks,
          .threads = options.threads,
          .samples_errors = options.error_sample_interval > 0};
}

std::vector<LabelBytes> ByLabel(const MemoryBytes& bytes) {
  std::vector<LabelBytes> list;
  for (int i = 0; i < kNumMemoryLabels; ++i) {
    if (bytes.by_label[i] == 0) continue;
    list.push_back({std::string(NameOf(static_cast<MemoryLabel>(i))), bytes.by_label[i]});
  }
  return list;
}

}  // namespace agoq
