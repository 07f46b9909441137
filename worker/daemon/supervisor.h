// All ranks that this daemon holds.
#pragma once

#include <absl/base/thread_annotations.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "worker/daemon/held_rank.h"

namespace agoq {

struct SupervisorOptions {
  std::filesystem::path attempts;  // the folder of attempts' folders
  std::string host;                // at which other workers' trainers reach this one's
  v1::Device::Kind device_kind = v1::Device::KIND_CPU;
  double trainer_grace_seconds = 30;
  double drain_seconds = 300;  // for a Drain without a deadline
};

// Thread-safe. Commands return at once; what follows is told as TaskStatus. A command's answer is
// a problem: empty, or why it is refused, with the remedy.
class Supervisor {
 public:
  // on_status of the services is called after the supervisor has seen the status itself.
  Supervisor(SupervisorOptions options, RankServices services);
  ~Supervisor();

  // At the start: takes over what an earlier daemon left, and waits a moment for the trainers that
  // live to say what they do.
  void AdoptFolders();

  std::string Prepare(const v1::Prepare& prepare);
  void Start(const v1::RankId& id);
  void Drain(const v1::Drain& drain);
  void Abort(const v1::Abort& abort);
  void Forget(const v1::RankId& id);
  // Of a Welcome: ranks that are not in the list are killed and forgotten.
  void KeepOnly(const std::vector<v1::RankId>& kept);

  // The worker is being stopped: every rank stops with a checkpoint, no new one is taken.
  void DrainAll(double deadline_seconds, const std::string& reason);
  // The coordinator is away for too long. Ranks that are already stopping are left alone.
  void DrainOrphans(const std::string& reason);
  // False: the time passed before every rank had ended.
  bool AwaitEnds(std::chrono::duration<double> time);
  // False: the time passed before every ended rank was forgotten.
  bool AwaitForgotten(std::chrono::duration<double> time);

  // Forgets abandoned ranks that have ended. Call about once a second.
  void Tick();

  std::vector<v1::TaskStatus> Statuses() const;
  std::vector<v1::RankProgress> Progress() const;
  std::vector<HeldMemory> Memory() const;
  // Empty: none.
  std::string problem() const;

 private:
  using RankPointer = std::shared_ptr<HeldRank>;

  void AdoptFolder(const AttemptFolder& folder);
  std::unique_ptr<HeldRank> Revive(RankTask task);
  std::string ProblemWith(const v1::Prepare& prepare) const;
  v1::TrainerTask TaskOf(const v1::Prepare& prepare) const;
  // Null: unknown.
  RankPointer Find(const v1::RankId& id) const;
  // For a command about a rank that is not here.
  void TellUnknown(const v1::RankId& id) const;
  std::vector<RankPointer> Ranks() const;
  void Drop(const RankPointer& rank);
  bool Await(std::chrono::duration<double> time,
             const std::function<bool(const HeldRank&)>& is_awaited);
  void NoteChange();

  const SupervisorOptions options_;
  RankServices services_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string closed_reason_ ABSL_GUARDED_BY(mutex_);                 // empty: ranks are taken
  std::map<std::string, RankPointer> ranks_ ABSL_GUARDED_BY(mutex_);  // by AttemptName
};

}  // namespace agoq
