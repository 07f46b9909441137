#include "worker/train/train_step.h"

#include <cmath>
#include <utility>

#include "worker/comm/all_gather_values.h"
#include "worker/train/lr_schedule.h"
#include "worker/train/micro_batch.h"
#include "worker/train/step_verdict.h"

namespace agoq {
namespace {

std::int64_t CountTargets(const std::vector<Batch>& micro_batches, Communicator& communicator,
                          std::chrono::milliseconds timeout) {
  std::int64_t own = 0;
  for (const Batch& batch : micro_batches) own += batch.num_targets;
  std::int64_t all = 0;
  for (const std::int64_t count : AllGatherValues(communicator, own, timeout)) all += count;
  return all;
}

std::string NonFiniteText(const StepVerdict& verdict, const Stage& stage) {
  return "rank " + std::to_string(verdict.non_finite_rank) + ": " +
         stage.TensorName(verdict.non_finite.tensor_id) + ", block " +
         std::to_string(verdict.non_finite.first_block) + ": " +
         std::to_string(verdict.non_finite.count) + " values are not finite";
}

}  // namespace

TrainStep::TrainStep(const TrainOptions& options, Communicator& communicator, TrainState& state,
                     std::function<RankWord()> word)
    : options_(options),
      communicator_(communicator),
      state_(state),
      word_(std::move(word)),
      gradients_(state.stage.parameters().list(),
                 {.spec = options.gradient_spec, .compute = options.compute}) {}

double TrainStep::RunMicroBatches(const std::vector<Batch>& micro_batches, double scale,
                                  NonFinite& saved_non_finite,
                                  std::vector<LayerErrorSums>* errors) {
  const std::vector<LayerPlan>& layers = options_.plan.ranks[communicator_.rank()].layers;
  gradients_.StartStep();
  double loss_sum = 0;
  for (const Batch& micro_batch : micro_batches) {
    const TokenBatch batch = TokenBatchOf(micro_batch);
    SavedStage saved = state_.stage.Forward(
        batch, {.layers = layers, .non_finite = &saved_non_finite, .errors = errors});
    loss_sum += state_.stage.Backward(batch, std::move(saved), scale, gradients_);
    errors = nullptr;
  }
  return loss_sum;
}

StepOutcome TrainStep::Run(const std::vector<Batch>& micro_batches, bool sample_errors) {
  StepOutcome outcome;
  outcome.targets = CountTargets(micro_batches, communicator_, options_.collective_timeout);
  if (sample_errors) outcome.errors.resize(static_cast<std::size_t>(options_.model.num_layers));
  const double scale = outcome.targets > 0 ? 1.0 / static_cast<double>(outcome.targets) : 0.0;
  RankVerdict own;
  own.loss_sum = RunMicroBatches(micro_batches, scale, own.non_finite,
                                 sample_errors ? &outcome.errors : nullptr);
  own.non_finite.Merge(gradients_.non_finite());
  const RankWord word = word_();
  own.elapsed_seconds = word.elapsed_seconds;
  own.stop = word.stop_request ? 1 : 0;
  const StepVerdict verdict =
      Agree(AllGatherValues(communicator_, own, options_.collective_timeout));
  outcome.loss = verdict.loss_sum * scale;
  outcome.elapsed_seconds = verdict.elapsed_seconds;
  outcome.stop = verdict.stop;
  if (verdict.non_finite_rank >= 0) outcome.non_finite = NonFiniteText(verdict, state_.stage);
  if (outcome.non_finite.empty()) Update(outcome);
  if (!outcome.non_finite.empty()) ++state_.counters.skipped_steps;
  ++state_.counters.step;
  state_.counters.tokens += outcome.targets;
  return outcome;
}

void TrainStep::Update(StepOutcome& outcome) {
  gradients_.Reduce(communicator_, options_.collective_timeout);
  outcome.gradient_norm = std::sqrt(gradients_.SquaredNorm());
  if (!std::isfinite(outcome.gradient_norm)) {
    // All ranks hold the same sums, so all see this.
    outcome.non_finite = "the sum of the gradients over the ranks is not finite";
    return;
  }
  const double clip_norm = options_.optimizer.clip_norm;
  const bool clips = clip_norm > 0 && outcome.gradient_norm > clip_norm;
  const std::int64_t update = state_.next_update();
  outcome.learning_rate = LearningRate(
      options_.optimizer,
      {.update = update,
       .total_steps = options_.steps,
       .time_fraction =
           options_.max_seconds > 0 ? outcome.elapsed_seconds / options_.max_seconds : 0});
  state_.optimizer.Step(gradients_, {.learning_rate = outcome.learning_rate,
                                     .clip_factor = clips ? clip_norm / outcome.gradient_norm : 1,
                                     .update = update});
}

}  // namespace agoq
