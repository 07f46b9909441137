// The door of the engine: options that cannot be right are refused before any work.
#pragma once

#include "worker/comm/communicator.h"
#include "worker/data/token_dataset.h"
#include "worker/train/train_options.h"

namespace agoq {

// Throws std::invalid_argument with the thing, the value and the remedy.
void CheckTrainOptions(const TrainOptions& options, const Communicator& communicator);

// Every id of the data is in the vocabulary.
void CheckTokens(const TokenDataset& dataset, const ModelShape& model);

}  // namespace agoq
