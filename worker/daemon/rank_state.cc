#include "worker/daemon/rank_state.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace agoq {
namespace {

Clock::Steady After(Clock::Steady now, std::chrono::duration<double> time) {
  return now + std::chrono::duration_cast<Clock::Steady::duration>(time);
}

v1::ToTrainer StartMessage() {
  v1::ToTrainer message;
  message.mutable_start();
  return message;
}

v1::ToTrainer StopMessage(const std::string& reason) {
  v1::ToTrainer message;
  message.mutable_stop()->set_reason(reason);
  return message;
}

v1::ToTrainer GoMessage() {
  v1::ToTrainer message;
  message.mutable_go();
  return message;
}

}  // namespace

RankState::RankState(v1::RankId id, std::chrono::duration<double> kill_wait)
    : id_(std::move(id)), kill_wait_(kill_wait) {
  *status_.mutable_id() = id_;
  status_.set_state(v1::TaskStatus::STATE_PREPARING);
}

void RankState::AwaitHello(double seconds, Moment at) {
  status_.set_at_unix_nanos(at.unix_nanos);
  hello_deadline_ = Deadline{After(at.now, std::chrono::duration<double>(seconds)),
                             absl::StrCat("killed: the trainer was not prepared within ", seconds,
                                          " s; the end of its log may tell why")};
}

Reaction RankState::Enter(v1::TaskStatus::State state, Moment at) {
  status_.set_state(state);
  status_.set_at_unix_nanos(at.unix_nanos);
  return Repeat();
}

Reaction RankState::Repeat() const { return {.send = {}, .tell = status_}; }

Reaction RankState::Start(Moment at) {
  if (has_exited()) return Repeat();
  is_started_ = true;
  // A trainer that was not heard yet gets it in answer to its Hello.
  if (status_.state() != v1::TaskStatus::STATE_PREPARED) return Repeat();
  Reaction reaction = Enter(v1::TaskStatus::STATE_RUNNING, at);
  reaction.send.push_back(StartMessage());
  return reaction;
}

Reaction RankState::Drain(double deadline_seconds, const std::string& reason, Moment at) {
  if (has_exited()) return Repeat();
  stop_reason_ = reason;
  const Clock::Steady deadline = After(at.now, std::chrono::duration<double>(deadline_seconds));
  if (!stop_deadline_ || deadline < stop_deadline_->at) {
    stop_deadline_ =
        Deadline{deadline, absl::StrCat("killed: it had not stopped ", deadline_seconds,
                                        " s after the request (", reason, ")")};
  }
  return {.send = {StopMessage(reason)}, .tell = std::nullopt};
}

Reaction RankState::Abort(const std::string& reason) {
  if (has_exited()) return Repeat();
  if (intervention_.empty()) intervention_ = absl::StrCat("killed: ", reason);
  return {};
}

void RankState::FailStart(const std::string& reason) {
  intervention_ = reason;
  never_prepared_ = true;
}

Reaction RankState::TakeHello(const v1::TrainerHello& hello, Moment at) {
  hello_deadline_.reset();
  std::vector<v1::ToTrainer> send;
  if (is_started_ && !hello.started()) send.push_back(StartMessage());
  if (stop_reason_) send.push_back(StopMessage(*stop_reason_));
  is_started_ = is_started_ || hello.started();
  Reaction reaction;
  if (status_.state() == v1::TaskStatus::STATE_PREPARING) {
    reaction =
        Enter(is_started_ ? v1::TaskStatus::STATE_RUNNING : v1::TaskStatus::STATE_PREPARED, at);
  }
  reaction.send = std::move(send);
  return reaction;
}

Reaction RankState::TakeNote(const v1::TrainerNote& note, Moment at) const {
  Reaction reaction = Repeat();
  reaction.tell->set_note(note.text());
  reaction.tell->set_at_unix_nanos(at.unix_nanos);
  return reaction;
}

Reaction RankState::TakeCheckpoint(const v1::TrainerCheckpoint& checkpoint, Moment at) {
  status_.set_checkpoint(checkpoint.path());
  status_.set_checkpoint_step(checkpoint.step());
  return Enter(v1::TaskStatus::STATE_CHECKPOINTED, at);
}

Reaction RankState::TakeEnd(const v1::TrainerEnd& end, Moment at) {
  if (!report_) reported_unix_nanos_ = at.unix_nanos;
  report_ = end;
  hello_deadline_.reset();
  if (!go_deadline_) go_deadline_ = After(at.now, kill_wait_);
  return {.send = {GoMessage()}, .tell = std::nullopt};
}

bool RankState::IsKillDue(Clock::Steady now) {
  const bool is_late_hello = hello_deadline_ && now >= hello_deadline_->at;
  if (intervention_.empty() && is_late_hello) FailStart(hello_deadline_->reason);
  const bool is_late_stop = stop_deadline_ && now >= stop_deadline_->at;
  if (intervention_.empty() && is_late_stop) intervention_ = stop_deadline_->reason;
  // What it said about its end holds; only its process is in the way.
  const bool is_late_go = go_deadline_ && now >= *go_deadline_;
  return !intervention_.empty() || is_late_go;
}

RankEnd RankState::End(const std::optional<ProcessEnd>& process, Moment at) const {
  return {.id = id_,
          .report = report_,
          .process = process,
          .intervention = intervention_,
          .never_prepared = never_prepared_,
          .is_orphan = is_orphan_,
          .at_unix_nanos = report_ ? reported_unix_nanos_ : at.unix_nanos};
}

}  // namespace agoq
