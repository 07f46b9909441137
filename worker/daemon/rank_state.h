// What is known and wanted of one rank, and what follows from each command and each message of its
// trainer. Pure: time comes in, messages go out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/clock.h"
#include "worker/daemon/rank_end.h"
#include "worker/daemon/step_window.h"

namespace agoq {

struct Moment {
  Clock::Steady now;
  std::int64_t unix_nanos = 0;
};

// To be done, in this order.
struct Reaction {
  std::vector<v1::ToTrainer> send;
  std::optional<v1::TaskStatus> tell;
};

class RankState {
 public:
  // `kill_wait`: from the trainer's last word to its kill.
  RankState(v1::RankId id, std::chrono::duration<double> kill_wait);

  // A trainer is being started and must say Hello within that time.
  void AwaitHello(double seconds, Moment at);
  void SetExited(const v1::TaskStatus& status) { status_ = status; }

  // Commands. Each may come twice; a rank that is over answers with its status.
  Reaction Start(Moment at);
  // The nearest of several deadlines holds.
  Reaction Drain(double deadline_seconds, const std::string& reason, Moment at);
  Reaction Abort(const std::string& reason);
  void SetOrphan() { is_orphan_ = true; }
  // It could not be started.
  void FailStart(const std::string& reason);

  // Of the trainer.
  Reaction TakeHello(const v1::TrainerHello& hello, Moment at);
  Reaction TakeNote(const v1::TrainerNote& note, Moment at) const;
  Reaction TakeCheckpoint(const v1::TrainerCheckpoint& checkpoint, Moment at);
  void TakeStep(const v1::TrainerStep& step) { steps_.Add(step); }
  Reaction TakeEnd(const v1::TrainerEnd& end, Moment at);

  // The trainer must be killed now.
  bool IsKillDue(Clock::Steady now);
  // All that is known, once its process is gone; without the log.
  RankEnd End(const std::optional<ProcessEnd>& process, Moment at) const;

  const v1::TaskStatus& status() const { return status_; }
  bool has_exited() const { return status_.state() == v1::TaskStatus::STATE_EXITED; }
  v1::JobProgress progress() const { return steps_.Progress(); }

 private:
  struct Deadline {
    Clock::Steady at;
    std::string reason;  // of the kill
  };

  Reaction Enter(v1::TaskStatus::State state, Moment at);
  Reaction Repeat() const;

  const v1::RankId id_;
  const std::chrono::duration<double> kill_wait_;
  v1::TaskStatus status_;
  StepWindow steps_;
  bool is_started_ = false;
  bool is_orphan_ = false;
  bool never_prepared_ = false;
  std::string intervention_;  // why the trainer is killed; empty: it is not
  std::optional<std::string> stop_reason_;
  std::optional<v1::TrainerEnd> report_;
  std::int64_t reported_unix_nanos_ = 0;
  std::optional<Deadline> hello_deadline_;
  std::optional<Deadline> stop_deadline_;
  std::optional<Clock::Steady> go_deadline_;
};

}  // namespace agoq
