#include "worker/trainer/run_rank.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "worker/comm/file_key_value_store.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/local_communicator.h"
#include "worker/train/trainer.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/failure_kind.h"
#include "worker/trainer/progress.h"
#include "worker/trainer/result_file.h"
#include "worker/trainer/stop_signals.h"

namespace agoq {
namespace {

// Rank 0 speaks for all; every rank knows whether training has begun.
class RankListener : public TrainListener {
 public:
  explicit RankListener(int rank) {
    if (rank == 0) printer_.emplace(OptionsOfStandardError(), std::cerr);
  }

  bool has_begun() const { return has_begun_; }

  void OnNote(const std::string& note) override {
    if (printer_) printer_->OnNote(note);
  }
  void OnStep(const StepReport& step) override {
    has_begun_ = true;
    if (printer_) printer_->OnStep(step);
  }
  void OnCheckpoint(const std::string& path) override {
    if (printer_) printer_->OnCheckpoint(path);
  }
  // Errors that follow start on a line of their own.
  void Close() { printer_.reset(); }

 private:
  std::optional<ProgressPrinter> printer_;
  bool has_begun_ = false;
};

void FollowLauncher(int launcher_pid) {
  if (launcher_pid == 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != launcher_pid) throw std::runtime_error("the launcher is gone; start it again");
}

std::unique_ptr<Communicator> Connect(const PreparedJob& job, const RankOptions& options) {
  if (options.world == 1) return LocalGroup(1).Join(0);
  CheckGlooLinkage();
  FileKeyValueStore store(options.rendezvous, job.run_id);
  const GlooOptions gloo = {.rank = options.rank,
                            .size = options.world,
                            .host = options.host,
                            .connect_timeout = job.options.collective_timeout};
  return ConnectGloo(gloo, store);
}

int CodeOf(const TrainReport& report) {
  if (!report.stopped) return kExitDone;
  const int signal = StopSignal();
  return kExitSignal + (signal == 0 ? SIGTERM : signal);  // 0: another rank was asked
}

int TrainAndTell(const PreparedJob& job, const RankOptions& options, RankListener* listener) {
  const std::atomic<bool>& stop_request = WatchStopSignals();
  FollowLauncher(options.launcher_pid);
  const std::unique_ptr<Communicator> communicator = Connect(job, options);
  const TrainReport report = Train(job.options, {*communicator, stop_request, *listener});
  listener->Close();
  if (options.rank == 0) std::cout << SummaryText(report) << std::flush;
  if (!options.result_path.empty()) {
    WriteResultFile(options.result_path, ResultJson(job.options, report));
  }
  return CodeOf(report);
}

}  // namespace

int RunRank(const PreparedJob& job, const RankOptions& options) {
  RankListener listener(options.rank);
  try {
    return TrainAndTell(job, options, &listener);
  } catch (const std::exception& error) {
    listener.Close();
    const std::string who = options.world > 1 ? "rank " + std::to_string(options.rank) + ": " : "";
    std::cerr << "agoq-trainer: " + who + error.what() + "\n" << std::flush;
    return KindOf(error, listener.has_begun()) == FailureKind::kUser ? kExitUsage : kExitFailed;
  }
}

}  // namespace agoq
