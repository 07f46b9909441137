// The loss of a model on held-out tokens.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "worker/comm/communicator.h"
#include "worker/data/token_dataset.h"
#include "worker/model/stage.h"
#include "worker/plan/model_shape.h"
#include "worker/train/train_report.h"

namespace agoq {

struct EvaluationShape {
  std::int64_t sequence_length = 0;
  std::int64_t batch_size = 8;  // sequences at a time
};

// Every target of the data counts once; the ranks of the group share the work, and all get the same
// result.
EvaluationReport Evaluate(const Stage& stage, const TokenDataset& dataset,
                          const EvaluationShape& shape, Communicator& communicator,
                          std::chrono::milliseconds timeout);

struct EvaluateCheckpointOptions {
  std::string checkpoint;  // one checkpoint's own folder
  ModelShape model;        // of its config
  ComputeType compute = ComputeType::kFloat32;
  std::string data_prefix;  // PREFIX.bin and PREFIX.idx
  EvaluationShape shape;
  int threads = 1;
};

// On the calling thread. Throws std::runtime_error for files, std::invalid_argument for data that
// does not fit the model.
EvaluationReport EvaluateCheckpoint(const EvaluateCheckpointOptions& options);

}  // namespace agoq
