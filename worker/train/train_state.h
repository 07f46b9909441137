// What training carries from step to step, and its image in a checkpoint.
#pragma once

#include <cstdint>

#include "worker/model/stage.h"
#include "worker/train/checkpoint.h"
#include "worker/train/optimizer.h"
#include "worker/train/train_options.h"

namespace agoq {

struct TrainState {
  // First weights from the seed, zero moments, step 0. Borrows nothing.
  explicit TrainState(const TrainOptions& options);

  Stage stage;
  Optimizer optimizer;
  CheckpointCounters counters;

  // Number of the next update; skipped steps are none.
  std::int64_t next_update() const { return counters.step - counters.skipped_steps + 1; }
};

// Tensors are borrowed from the state.
Checkpoint TakeCheckpoint(const TrainState& state, const TrainOptions& options,
                          const DataPosition& position);

// Weights, moments and counters from a checkpoint, or nothing at all: throws std::invalid_argument
// when it is of another model or compute type (names the tensor, both shapes and types).
void RestoreCheckpoint(const Checkpoint& checkpoint, TrainState& state);

// The weights alone, for evaluation.
void RestoreWeights(const Checkpoint& checkpoint, const Parameters& parameters);

}  // namespace agoq
