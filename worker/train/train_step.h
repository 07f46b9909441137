// One training step of one rank: micro-batches, gradients, agreement, update.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/data/batch.h"
#include "worker/train/gradient_store.h"
#include "worker/train/train_options.h"
#include "worker/train/train_state.h"

namespace agoq {

struct StepOutcome {
  double loss = 0;           // nats per target of the global batch
  std::int64_t targets = 0;  // of the global batch
  double learning_rate = 0;
  double gradient_norm = 0;
  std::string non_finite;      // not empty: the step changed nothing but the count of skipped steps
  double elapsed_seconds = 0;  // of training when the ranks agreed, by rank 0's clock
  bool stop = false;           // some rank was asked to stop
  std::vector<LayerErrorSums> errors;  // one a layer when sampled, of the first micro-batch
};

// What only this rank knows; taken between backward and update.
struct RankWord {
  double elapsed_seconds = 0;
  bool stop_request = false;
};

class TrainStep {
 public:
  // Everything is borrowed. `word` is called once a step.
  TrainStep(const TrainOptions& options, Communicator& communicator, TrainState& state,
            std::function<RankWord()> word);

  // Counts the step in the state. `sample_errors`: measure what this step's saved copies lose.
  StepOutcome Run(const std::vector<Batch>& micro_batches, bool sample_errors);

 private:
  double RunMicroBatches(const std::vector<Batch>& micro_batches, double scale,
                         NonFinite& saved_non_finite, std::vector<LayerErrorSums>* errors);
  void Update(StepOutcome& outcome);

  const TrainOptions& options_;
  Communicator& communicator_;
  TrainState& state_;
  const std::function<RankWord()> word_;
  GradientStore gradients_;
};

}  // namespace agoq
