#include "worker/train/trainer.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "worker/comm/all_gather_values.h"
#include "worker/data/loader.h"
#include "worker/data/token_dataset.h"
#include "worker/memory/counting_allocator.h"
#include "worker/memory/resident_bytes.h"
#include "worker/plan/memory_model.h"
#include "worker/train/checkpoint.h"
#include "worker/train/evaluate.h"
#include "worker/train/memory_report.h"
#include "worker/train/quant_error.h"
#include "worker/train/train_checks.h"
#include "worker/train/train_state.h"
#include "worker/train/train_step.h"

namespace agoq {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kCheckpointPatience{15};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One rank's attempt. Members in the order in which they depend on each other.
class Attempt {
 public:
  Attempt(const TrainOptions& options, const TrainContext& context,
          std::shared_ptr<MemoryLedger> ledger)
      : options_(options),
        context_(context),
        ledger_(std::move(ledger)),
        dataset_(options.data_prefix),
        state_(options) {
    CheckTokens(dataset_, options.model);
    if (!options.validation_prefix.empty()) {
      validation_.emplace(options.validation_prefix);
      CheckTokens(*validation_, options.model);
    }
  }

  TrainReport Run() {
    Resume();
    report_.first_step = state_.counters.step;
    report_.num_parameters = state_.stage.parameters().list().num_elements();
    TrainSteps();
    SaveAtEnd();
    if (validation_.has_value() && !report_.stopped) {
      Enter(TrainPhase::kEvaluating);
      report_.validation = Evaluate(
          state_.stage, *validation_,
          {.sequence_length = options_.sequence_length, .batch_size = options_.micro_batch_size},
          context_.communicator, options_.collective_timeout);
    }
    Finish();
    return std::move(report_);
  }

 private:
  std::int64_t global_batch() const {
    return context_.communicator.size() * options_.micro_batches * options_.micro_batch_size;
  }
  bool is_first_rank() const { return context_.communicator.rank() == 0; }

  void Resume();
  void RestoreNewest();
  void RequireSameStart();
  void Enter(TrainPhase phase);
  void TrainSteps();
  bool IsDone() const;
  void TellStep(const StepOutcome& outcome, double seconds);
  void SaveIfDue();
  void SaveAtEnd();
  void Save();
  void Finish();

  const TrainOptions& options_;
  const TrainContext& context_;
  const std::shared_ptr<MemoryLedger> ledger_;
  TokenDataset dataset_;
  std::optional<TokenDataset> validation_;
  TrainState state_;
  std::int64_t start_step_ = 0;  // of the data order
  std::int64_t saved_step_ = -1;
  double earlier_seconds_ = 0;
  TrainReport report_;
};

void Attempt::Resume() {
  if (options_.checkpoint.directory.empty()) return;
  RestoreNewest();
  RequireSameStart();
}

// Ranks that start apart would train apart, without a sign of it.
void Attempt::RequireSameStart() {
  struct Start {
    std::int64_t step = 0;
    std::int64_t data_step = 0;
  };
  const Start own = {.step = state_.counters.step, .data_step = start_step_};
  const std::vector<Start> starts =
      AllGatherValues(context_.communicator, own, options_.collective_timeout);
  for (std::size_t rank = 1; rank < starts.size(); ++rank) {
    if (starts[rank].step == starts[0].step && starts[rank].data_step == starts[0].data_step) {
      continue;
    }
    throw std::invalid_argument(
        "checkpoint folder " + options_.checkpoint.directory + ": rank 0 goes on at step " +
        std::to_string(starts[0].step) + ", rank " + std::to_string(rank) + " at step " +
        std::to_string(starts[rank].step) + "; use one folder that every rank reaches");
  }
}

// The state of the newest usable checkpoint, if there is one. What the file brings is staged
// outside of the rank's budget, as on a GPU.
void Attempt::RestoreNewest() {
  const LedgerScope uncounted(nullptr);
  const LatestCheckpoint latest = FindLatestCheckpoint(options_.checkpoint.directory);
  for (const std::string& skipped : latest.skipped) {
    context_.listener.OnNote("checkpoint passed over: " + skipped);
  }
  if (!latest.path.has_value()) return;
  const Checkpoint checkpoint = ReadCheckpoint(*latest.path);
  if (checkpoint.data_position.seed != options_.seed) {
    throw std::invalid_argument("seed " + std::to_string(options_.seed) + ": " + *latest.path +
                                " was trained with seed " +
                                std::to_string(checkpoint.data_position.seed) +
                                "; use that seed, or another checkpoint folder");
  }
  RestoreCheckpoint(checkpoint, state_);
  // A smaller global batch goes on at the first of its steps that was not begun.
  start_step_ = (checkpoint.data_position.next_sample + global_batch() - 1) / global_batch();
  saved_step_ = state_.counters.step;
  earlier_seconds_ = state_.counters.elapsed_seconds;
  report_.checkpoint = *latest.path;
  context_.listener.OnNote("resumed from " + *latest.path);
}

void Attempt::Enter(TrainPhase phase) {
  context_.listener.OnPhase(
      {.phase = phase,
       .step = state_.counters.step,
       .allocated_bytes = ledger_->current().total(),
       .collective_sequence = static_cast<std::int64_t>(context_.communicator.sequence())});
}

bool Attempt::IsDone() const {
  if (report_.stopped) return true;
  if (options_.steps > 0 && state_.counters.step >= options_.steps) return true;
  return options_.max_seconds > 0 && state_.counters.elapsed_seconds >= options_.max_seconds;
}

void Attempt::TrainSteps() {
  if (IsDone()) return;
  Enter(TrainPhase::kTraining);
  const Clock::time_point start = Clock::now();
  const auto word = [&] {
    return RankWord{.elapsed_seconds = earlier_seconds_ + SecondsSince(start),
                    .stop_request = context_.stop_request.load()};
  };
  TrainStep step(options_, context_.communicator, state_, word);
  Loader loader(dataset_, {.seed = options_.seed,
                           .rank = context_.communicator.rank(),
                           .world = context_.communicator.size(),
                           .micro_batch_size = options_.micro_batch_size,
                           .micro_batches = options_.micro_batches,
                           .sequence_length = options_.sequence_length,
                           .start_step = start_step_});
  std::int64_t tokens = 0;
  while (!IsDone()) {
    const Clock::time_point step_start = Clock::now();
    const std::int64_t interval = options_.error_sample_interval;
    const bool sample_errors = interval > 0 && state_.counters.step % interval == 0;
    const StepOutcome outcome = step.Run(loader.NextStep(), sample_errors);
    ++start_step_;
    state_.counters.elapsed_seconds = outcome.elapsed_seconds;
    report_.stopped = outcome.stop;
    tokens += outcome.targets;
    TellStep(outcome, SecondsSince(step_start));
    SaveIfDue();
  }
  report_.seconds = SecondsSince(start);
  report_.tokens_per_second = static_cast<double>(tokens) / report_.seconds;
}

void Attempt::TellStep(const StepOutcome& outcome, double seconds) {
  report_.losses.push_back(outcome.loss);
  StepReport step = {
      .step = state_.counters.step,
      .total_steps = options_.steps,
      .loss = outcome.loss,
      .learning_rate = outcome.learning_rate,
      .gradient_norm = outcome.gradient_norm,
      .tokens = outcome.targets,
      .seconds = seconds,
      .skipped = !outcome.non_finite.empty(),
      .non_finite = outcome.non_finite,
      .counted_bytes = ledger_->peak().total(),
      .allocated_bytes = ledger_->current().total(),
      .collective_sequence = static_cast<std::int64_t>(context_.communicator.sequence())};
  if (options_.steps > 0) {
    step.progress = static_cast<double>(step.step) / static_cast<double>(options_.steps);
  }
  if (options_.max_seconds > 0) {
    step.progress =
        std::max(step.progress, std::min(1.0, outcome.elapsed_seconds / options_.max_seconds));
  }
  if (!outcome.errors.empty()) {
    step.errors = SiteErrors(outcome.errors);
    report_.errors = step.errors;
  }
  if (report_.losses.size() == 1 || !step.errors.empty()) {
    step.peak_by_label = ByLabel(ledger_->peak());
  }
  context_.listener.OnStep(step);
}

void Attempt::SaveIfDue() {
  const std::int64_t interval = options_.checkpoint.interval;
  if (interval > 0 && state_.counters.step % interval == 0) Save();
}

void Attempt::SaveAtEnd() {
  if (saved_step_ != state_.counters.step) Save();
}

void Attempt::Save() {
  if (options_.checkpoint.directory.empty()) return;
  saved_step_ = state_.counters.step;
  Enter(TrainPhase::kCheckpoint);
  if (is_first_rank()) {
    report_.checkpoint = WriteCheckpoint(
        {.directory = options_.checkpoint.directory, .keep = options_.checkpoint.keep},
        TakeCheckpoint(state_, options_,
                       {.seed = options_.seed, .next_sample = start_step_ * global_batch()}));
    context_.listener.OnCheckpoint(report_.checkpoint);
  }
  // Writing may take longer than a collective operation of a step may.
  context_.communicator.Barrier()->Wait(CommClock::now() + kCheckpointPatience);
  Enter(TrainPhase::kTraining);
}

void Attempt::Finish() {
  report_.steps = state_.counters.step;
  report_.skipped_steps = state_.counters.skipped_steps;
  const MemoryBytes predicted = PredictPeak(
      MemoryInputOf(options_, context_.communicator.rank(), context_.communicator.size()));
  const MemoryBytes peak = ledger_->peak();
  report_.peak_by_label = ByLabel(peak);
  report_.predicted_by_label = ByLabel(predicted);
  const RankMemory own = {.peak_bytes = peak.total(),
                          .predicted_bytes = predicted.total(),
                          .uncounted_bytes = PeakResidentBytes() - peak.total()};
  report_.ranks = AllGatherValues(context_.communicator, own, options_.collective_timeout);
  report_.bytes_sent = static_cast<std::int64_t>(context_.communicator.bytes_sent());
}

}  // namespace

TrainReport Train(const TrainOptions& options, const TrainContext& context) {
  CheckTrainOptions(options, context.communicator);
  at::set_num_threads(options.threads);
  const auto ledger = std::make_shared<MemoryLedger>(
      "rank " + std::to_string(context.communicator.rank()), options.memory_budget_bytes);
  const LedgerScope counted(ledger);
  return Attempt(options, context, ledger).Run();
}

}  // namespace agoq
