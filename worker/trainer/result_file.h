// The outcome of a run: JSON for programs, a few lines for people.
#pragma once

#include <string>

#include "worker/train/train_options.h"
#include "worker/train/train_report.h"

namespace agoq {

// Keys: job, ranks, first_step, steps, skipped_steps, stopped, num_parameters, seconds,
// tokens_per_second, losses, final_loss, validation {loss, tokens}, peak_bytes, predicted_bytes
// (each {label: bytes, total}), rank_memory, errors, checkpoint, bytes_sent.
std::string ResultJson(const TrainOptions& options, const TrainReport& report);

// The file appears whole or not at all. Throws std::runtime_error.
void WriteResultFile(const std::string& path, const std::string& json);

std::string SummaryText(const TrainReport& report);

}  // namespace agoq
