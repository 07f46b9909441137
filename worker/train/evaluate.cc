#include "worker/train/evaluate.h"

#include <ATen/Parallel.h>

#include "worker/comm/all_gather_values.h"
#include "worker/comm/local_communicator.h"
#include "worker/data/evaluation_batches.h"
#include "worker/memory/counting_allocator.h"
#include "worker/train/checkpoint.h"
#include "worker/train/micro_batch.h"
#include "worker/train/train_checks.h"
#include "worker/train/train_state.h"

namespace agoq {
namespace {

struct LossCount {
  double loss_sum = 0;
  std::int64_t targets = 0;
};

}  // namespace

EvaluationReport Evaluate(const Stage& stage, const TokenDataset& dataset,
                          const EvaluationShape& shape, Communicator& communicator,
                          std::chrono::milliseconds timeout) {
  const EvaluationBatches batches(
      dataset, {.batch_size = shape.batch_size, .sequence_length = shape.sequence_length});
  LossCount own;
  for (std::int64_t i = communicator.rank(); i < batches.num_batches(); i += communicator.size()) {
    const Batch batch = batches.At(i);
    own.loss_sum += stage.LossSum(TokenBatchOf(batch));
    own.targets += batch.num_targets;
  }
  LossCount all;
  for (const LossCount& rank : AllGatherValues(communicator, own, timeout)) {
    all.loss_sum += rank.loss_sum;
    all.targets += rank.targets;
  }
  return {.loss = all.loss_sum / static_cast<double>(all.targets), .tokens = all.targets};
}

EvaluationReport EvaluateCheckpoint(const EvaluateCheckpointOptions& options) {
  at::set_num_threads(options.threads);
  const TokenDataset dataset(options.data_prefix);
  CheckTokens(dataset, options.model);
  const Stage stage({.shape = options.model,
                     .compute = options.compute,
                     .num_positions = options.shape.sequence_length});
  RestoreWeights(ReadCheckpoint(options.checkpoint), stage.parameters());
  const std::unique_ptr<Communicator> alone = LocalGroup(1).Join(0);
  return Evaluate(stage, dataset, options.shape, *alone, std::chrono::minutes(1));
}

}  // namespace agoq
