// What a training attempt tells: per step, and at its end. Plain values. Std only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace agoq {

// A name from worker/plan/memory_label.h: weights, gradients, optimizer, x1 ... up, workspace.
struct LabelBytes {
  std::string label;
  std::int64_t bytes = 0;
};

struct RankMemory {
  std::int64_t peak_bytes = 0;       // counted
  std::int64_t predicted_bytes = 0;  // by the memory model, of the training step
  std::int64_t uncounted_bytes = 0;  // resident set less counted bytes: what escapes the allocator
};

// Relative error of the saved copies of one site: sqrt(sum of squared errors / sum of squares).
struct SiteError {
  std::string site;
  double ratio = 0;  // over all layers
  std::int64_t worst_layer = 0;
  double worst_ratio = 0;
};

// What a rank is at between and around its steps.
enum class TrainPhase : std::uint8_t { kTraining, kCheckpoint, kEvaluating };

struct PhaseReport {
  TrainPhase phase = TrainPhase::kTraining;
  std::int64_t step = 0;                 // steps done
  std::int64_t allocated_bytes = 0;      // counted, at this moment
  std::int64_t collective_sequence = 0;  // collectives of this rank so far
};

struct StepReport {
  std::int64_t step = 0;         // steps done, this one included
  std::int64_t total_steps = 0;  // 0: bounded by time alone
  double progress = 0;           // part of the whole training that is done, 0..1
  double loss = 0;               // nats per unmasked token of the global batch
  double learning_rate = 0;
  double gradient_norm = 0;               // global, before clipping
  std::int64_t tokens = 0;                // unmasked tokens of the step, all ranks
  double seconds = 0;                     // of the step
  bool skipped = false;                   // a gradient was not finite: nothing changed
  std::string non_finite;                 // which rank, tensor and block; set when skipped
  std::int64_t counted_bytes = 0;         // peak of this rank so far
  std::int64_t allocated_bytes = 0;       // counted, at this moment
  std::int64_t collective_sequence = 0;   // collectives of this rank so far
  std::vector<LabelBytes> peak_by_label;  // so far; filled on the first and on sampled steps
  std::vector<SiteError> errors;          // filled on sampled steps only
};

struct EvaluationReport {
  double loss = 0;  // nats per token
  std::int64_t tokens = 0;
};

struct TrainReport {
  std::int64_t first_step = 0;  // steps that were done before this attempt
  std::int64_t steps = 0;       // steps done, earlier attempts included
  std::int64_t skipped_steps = 0;
  std::int64_t num_parameters = 0;
  std::vector<double> losses;  // of this attempt's steps
  double tokens_per_second = 0;
  double seconds = 0;    // of this attempt's steps
  bool stopped = false;  // by request, before the end
  std::optional<EvaluationReport> validation;
  std::vector<LabelBytes> peak_by_label;       // of this rank, at its peak
  std::vector<LabelBytes> predicted_by_label;  // of this rank, at the predicted peak
  std::vector<RankMemory> ranks;
  std::vector<SiteError> errors;  // of the last sample
  std::string checkpoint;         // the last one's folder; empty: none
  std::int64_t bytes_sent = 0;    // by this rank to others
};

}  // namespace agoq
