// Whole trainings inside a test: small models on text that can be learnt, ranks as threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/train/train_options.h"
#include "worker/train/train_report.h"

namespace agoq {

// A byte-level data set of `num_tokens` in PREFIX.{bin,idx}: words of a small random language.
void WriteSyntheticText(const std::string& prefix, std::int64_t num_tokens, std::uint64_t seed);

// Two layers, grouped heads, sizes that are no multiples of a block; 8-bit gradients, plan `full`,
// learning rate 1e-3 with 10 updates of warm-up. The caller sets data_prefix and steps.
TrainOptions SmallTraining(int num_ranks);

enum class Transport { kLocal, kGloo };

struct TrainingRun {
  Transport transport = Transport::kLocal;
  int stop_after_step = 0;  // 0: never; else rank 0 asks for a stop during this step
};

// One report a rank. Rethrows the error of the first rank that failed.
std::vector<TrainReport> RunTraining(const TrainOptions& options, const TrainingRun& run = {});

}  // namespace agoq
