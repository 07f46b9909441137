#include "worker/trainer/daemon_outbox.h"

#include <algorithm>
#include <utility>

namespace agoq {
namespace {

bool IsStep(const v1::FromTrainer& message) { return message.has_step(); }

}  // namespace

void DaemonOutbox::Reconnect() {
  is_hello_due_ = true;
  is_end_due_ = end_.has_value();
  for (auto& [request, question] : questions_) question.is_due = !question.answer;
}

void DaemonOutbox::Post(v1::FromTrainer message) {
  if (IsStep(message)) ++num_steps_;
  queue_.push_back(std::move(message));
  if (num_steps_ > kMostQueuedSteps) DropOldestStep();
}

void DaemonOutbox::DropOldestStep() {
  const auto oldest = std::find_if(queue_.begin(), queue_.end(), IsStep);
  const auto next = std::find_if(oldest + 1, queue_.end(), IsStep);
  v1::TrainerStep& from = *oldest->mutable_step();
  v1::TrainerStep& to = *next->mutable_step();
  if (to.peak().empty()) to.mutable_peak()->Swap(from.mutable_peak());
  if (to.errors().empty()) to.mutable_errors()->Swap(from.mutable_errors());
  queue_.erase(oldest);
  --num_steps_;
}

void DaemonOutbox::PostEnd(const v1::TrainerEnd& end) {
  end_ = end;
  is_end_due_ = true;
}

std::int64_t DaemonOutbox::Ask(v1::FromTrainer question) {
  const std::int64_t request = ++last_request_;
  if (question.has_key_set()) question.mutable_key_set()->set_request(request);
  if (question.has_key_wait()) question.mutable_key_wait()->set_request(request);
  questions_[request].message = std::move(question);
  return request;
}

void DaemonOutbox::TakeAnswer(const v1::KeyAnswer& answer) {
  const auto question = questions_.find(answer.request());
  if (question == questions_.end() || question->second.answer) return;
  question->second.answer = answer;
  question->second.is_due = false;
}

std::optional<v1::KeyAnswer> DaemonOutbox::AnswerTo(std::int64_t request) const {
  const auto question = questions_.find(request);
  return question == questions_.end() ? std::nullopt : question->second.answer;
}

std::optional<v1::FromTrainer> DaemonOutbox::Next() {
  v1::FromTrainer message;
  if (std::exchange(is_hello_due_, false)) {
    *message.mutable_hello() = hello_;
    return message;
  }
  for (auto& [request, question] : questions_) {
    if (std::exchange(question.is_due, false)) return question.message;
  }
  if (!queue_.empty()) {
    message = std::move(queue_.front());
    queue_.pop_front();
    if (IsStep(message)) --num_steps_;
    return message;
  }
  if (!std::exchange(is_end_due_, false)) return std::nullopt;
  *message.mutable_end() = *end_;
  return message;
}

void DaemonOutbox::PutBack(v1::FromTrainer message) {
  // Hello, questions and end come again by themselves.
  if (message.has_hello() || message.has_end()) return;
  if (message.has_key_set() || message.has_key_wait()) return;
  if (IsStep(message)) ++num_steps_;
  queue_.push_front(std::move(message));
  if (num_steps_ > kMostQueuedSteps) DropOldestStep();
}

}  // namespace agoq
