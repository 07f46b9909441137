// A trainer's end of the socket to its daemon (trainer.proto). The trainer listens: a daemon that
// starts again connects anew, and the newest connection counts. Plain values at this side, so that
// the engine's files may include it; knows no LibTorch.
//
//   DaemonLink link({.folder = ..., .job_id = ..., .grace = ...});
//   if (link.WaitForStart() != StartSignal::kStart) return;  // nobody said go
//   Train(..., link.stop_request(), ...);                    // OnStep -> link.SendStep(...)
//   link.End({.cause = TrainerCause::kCompleted, .report = &report});
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "worker/train/train_report.h"
#include "worker/trainer/trainer_cause.h"

namespace agoq {

struct TrainerEnding {
  TrainerCause cause = TrainerCause::kCompleted;
  const TrainReport* report = nullptr;  // with kCompleted and kDrained
  std::string message;                  // otherwise: what happened, with the remedy
};

struct DaemonLinkOptions {
  std::filesystem::path folder;  // of the attempt
  std::string job_id;
  std::int64_t generation = 0;
  std::int64_t rank = 0;
  std::chrono::milliseconds grace{30'000};  // without a daemon, then a stop is requested
  // Called once, on a thread of the link, when the daemon or the grace time asks for a stop; with
  // the reason, for people.
  std::function<void(const std::string& reason)> on_stop = [](const std::string&) {};
};

enum class StartSignal : std::uint8_t {
  kStart,
  kStop,       // a stop was requested before
  kLeftAlone,  // the grace time has passed without a daemon
};

// Thread-safe.
class DaemonLink {
 public:
  // Listens at FOLDER/trainer.sock. Throws std::runtime_error.
  explicit DaemonLink(const DaemonLinkOptions& options);
  ~DaemonLink();
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  // Blocks until the daemon says go, however long that takes it.
  StartSignal WaitForStart();
  // Set by the daemon, by RequestStop, or when the grace time has passed.
  const std::atomic<bool>& stop_request() const;
  void RequestStop();

  // None of these waits for the daemon. While none is connected, or it is slow, notes and
  // checkpoints are kept for it, and so are the newest few hundred steps.
  void SendStep(const StepReport& step);
  void SendNote(const std::string& text);
  void SendCheckpoint(const std::string& path, std::int64_t step, double seconds);

  // The attempt's rendezvous, relayed by the daemon; asked again of the next one if this one goes.
  // Throw std::runtime_error that names the key, at once when a stop is requested.
  void SetKey(const std::string& key, const std::string& value,
              std::chrono::steady_clock::time_point deadline);
  std::string WaitKey(const std::string& key, std::chrono::steady_clock::time_point deadline);

  // Writes FOLDER/end.pb durably, tells the daemon, and waits until it has taken the end: at most
  // the grace time, at most a second without a daemon. A file that cannot be written is told on
  // standard error.
  void End(const TrainerEnding& ending);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace agoq
