#include "worker/train/train_checks.h"

#include <stdexcept>
#include <string>

namespace agoq {
namespace {

void RequirePositive(std::int64_t value, const std::string& name) {
  if (value > 0) return;
  throw std::invalid_argument(name + " " + std::to_string(value) + ": must be at least 1");
}

void CheckModel(const ModelShape& model) {
  RequirePositive(model.vocab_size, "vocabulary");
  RequirePositive(model.hidden_size, "hidden size");
  RequirePositive(model.num_layers, "number of layers");
  RequirePositive(model.num_heads, "number of heads");
  RequirePositive(model.num_kv_heads, "number of key and value heads");
  RequirePositive(model.head_size, "head size");
  RequirePositive(model.ffn_size, "ffn size");
  if (model.num_heads % model.num_kv_heads != 0) {
    throw std::invalid_argument("heads " + std::to_string(model.num_heads) +
                                ": not a multiple of " + std::to_string(model.num_kv_heads) +
                                " key and value heads");
  }
  if (model.head_size % 2 != 0) {
    throw std::invalid_argument("head size " + std::to_string(model.head_size) +
                                ": the rotary embedding needs an even one");
  }
}

void CheckPlan(const BitPlan& plan, std::int64_t num_layers, int num_ranks) {
  const PlanReview review = ReviewPlan(plan, num_layers, num_ranks);
  if (review.errors.empty()) return;
  std::string text = "bit plan:";
  for (const std::string& error : review.errors) text += "\n  " + error;
  throw std::invalid_argument(text);
}

}  // namespace

void CheckTrainOptions(const TrainOptions& options, const Communicator& communicator) {
  CheckModel(options.model);
  CheckPlan(options.plan, options.model.num_layers, communicator.size());
  RequirePositive(options.sequence_length, "sequence length");
  RequirePositive(options.micro_batch_size, "micro-batch size");
  RequirePositive(options.micro_batches, "number of micro-batches");
  RequirePositive(options.threads, "threads");
  if (options.steps <= 0 && options.max_seconds <= 0) {
    throw std::invalid_argument(
        "steps 0 and max_seconds 0: training has no end; give one of the two");
  }
  if (options.gradient_spec.has_value() && !IsValidBlock(options.gradient_spec->block)) {
    throw std::invalid_argument("gradient block " + std::to_string(options.gradient_spec->block) +
                                ": use a power of two from " + std::to_string(kMinBlock) + " to " +
                                std::to_string(kMaxBlock));
  }
}

void CheckTokens(const TokenDataset& dataset, const ModelShape& model) {
  dataset.RequireIdsBelow({.vocab_size = model.vocab_size});
}

}  // namespace agoq
