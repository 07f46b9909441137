// What a trainer has to tell its daemon, in the order in which it is to be sent. Pure; one thread
// at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

// Steps that wait for a daemon beyond this are dropped, the oldest first.
inline constexpr std::size_t kMostQueuedSteps = 256;

class DaemonOutbox {
 public:
  explicit DaemonOutbox(v1::TrainerHello hello) : hello_(std::move(hello)) {}

  // The trainer was told to start: later hellos say so.
  void SetStarted() { hello_.set_started(true); }

  // A new daemon: it hears the hello first, then every question without an answer, then what is
  // queued, then the end once there is one.
  void Reconnect();

  // Nothing but steps is ever dropped. What a dropped step says that others need not say, its
  // peak and its errors, goes over to the next step.
  void Post(v1::FromTrainer message);
  // The last message of all.
  void PostEnd(const v1::TrainerEnd& end);

  // A KeySet or KeyWait; returns its request number.
  std::int64_t Ask(v1::FromTrainer question);
  // Answers to unknown requests are ignored; the first one counts.
  void TakeAnswer(const v1::KeyAnswer& answer);
  std::optional<v1::KeyAnswer> AnswerTo(std::int64_t request) const;
  // Forgets question and answer.
  void Withdraw(std::int64_t request) { questions_.erase(request); }

  // Takes out what is to be sent next.
  std::optional<v1::FromTrainer> Next();
  // It could not be sent: the next daemon gets it.
  void PutBack(v1::FromTrainer message);

 private:
  struct Question {
    v1::FromTrainer message;
    bool is_due = true;
    std::optional<v1::KeyAnswer> answer;
  };

  void DropOldestStep();

  v1::TrainerHello hello_;
  bool is_hello_due_ = false;
  std::map<std::int64_t, Question> questions_;
  std::int64_t last_request_ = 0;
  std::deque<v1::FromTrainer> queue_;
  std::size_t num_steps_ = 0;  // in the queue
  std::optional<v1::TrainerEnd> end_;
  bool is_end_due_ = false;
};

}  // namespace agoq
