// Between the trainer's words and the memory model's.
#pragma once

#include <vector>

#include "worker/plan/memory_model.h"
#include "worker/train/train_options.h"
#include "worker/train/train_report.h"

namespace agoq {

MemoryModelInput MemoryInputOf(const TrainOptions& options, int rank, int num_ranks);

// Labels with bytes, in their order.
std::vector<LabelBytes> ByLabel(const MemoryBytes& bytes);

}  // namespace agoq
