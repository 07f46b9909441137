#include "worker/trainer/trainer_messages.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <vector>

namespace agoq {
namespace {

template <typename Messages>
void AddBytes(const std::vector<LabelBytes>& labels, Messages* messages) {
  for (const LabelBytes& label : labels) {
    auto& message = *messages->Add();
    message.set_label(label.label);
    message.set_bytes(label.bytes);
  }
}

template <typename Messages>
void AddErrors(const std::vector<SiteError>& errors, Messages* messages) {
  for (const SiteError& error : errors) {
    auto& message = *messages->Add();
    message.set_site(error.site);
    message.set_ratio(error.ratio);
    message.set_worst_layer(error.worst_layer);
    message.set_worst_ratio(error.worst_ratio);
  }
}

v1::AttemptCause CauseOf(TrainerCause cause) {
  switch (cause) {
    case TrainerCause::kCompleted:
      return v1::ATTEMPT_CAUSE_COMPLETED;
    case TrainerCause::kDrained:
      return v1::ATTEMPT_CAUSE_DRAINED;
    case TrainerCause::kFailed:
      return v1::ATTEMPT_CAUSE_RANK_EXIT;
    case TrainerCause::kUserError:
      return v1::ATTEMPT_CAUSE_USER_ERROR;
    case TrainerCause::kOutOfMemory:
      return v1::ATTEMPT_CAUSE_OOM;
    case TrainerCause::kCollectiveFailed:
      return v1::ATTEMPT_CAUSE_COLLECTIVE_FAILED;
    case TrainerCause::kStartFailed:
      return v1::ATTEMPT_CAUSE_START_FAILED;
  }
  return v1::ATTEMPT_CAUSE_UNSPECIFIED;
}

v1::RankResult ResultMessage(const TrainReport& report, std::int64_t rank) {
  v1::RankResult result;
  result.set_rank(rank);
  result.set_steps(report.steps);
  result.set_tokens_per_second(report.tokens_per_second);
  if (!report.losses.empty()) result.set_final_loss(report.losses.back());
  if (report.validation.has_value()) {
    result.set_validation_loss(report.validation->loss);
    result.set_validation_tokens(report.validation->tokens);
  }
  AddBytes(report.peak_by_label, result.mutable_peak());
  AddBytes(report.predicted_by_label, result.mutable_predicted());
  AddErrors(report.errors, result.mutable_errors());
  result.set_checkpoint(report.checkpoint);
  result.set_stopped(report.stopped);
  result.set_skipped_steps(report.skipped_steps);
  const auto index = static_cast<std::size_t>(rank);
  if (index < report.ranks.size()) {
    result.set_uncounted_bytes(report.ranks[index].uncounted_bytes);
  }
  return result;
}

}  // namespace

v1::TrainerStep StepMessage(const StepReport& step) {
  v1::TrainerStep message;
  message.set_step(step.step);
  message.set_total_steps(step.total_steps);
  message.set_done_ratio(step.progress);
  message.set_loss(step.loss);
  message.set_gradient_norm(step.gradient_norm);
  message.set_tokens(step.tokens);
  message.set_seconds(step.seconds);
  message.set_skipped(step.skipped);
  message.set_learning_rate(step.learning_rate);
  AddBytes(step.peak_by_label, message.mutable_peak());
  AddErrors(step.errors, message.mutable_errors());
  return message;
}

v1::TrainerEnd EndMessage(const TrainerEnding& ending, std::int64_t rank) {
  v1::TrainerEnd message;
  message.set_cause(CauseOf(ending.cause));
  message.set_message(ending.message);
  if (ending.report != nullptr) *message.mutable_result() = ResultMessage(*ending.report, rank);
  return message;
}

}  // namespace agoq
