// agoq-worker: the daemon of one worker.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "proto/common/daemon_options.h"
#include "proto/common/lifecycle.h"
#include "worker/daemon/daemon.h"
#include "worker/daemon/worker_settings.h"

namespace agoq {
namespace {

constexpr int kSettingsAreWrong = 2;

const ProgramText& Text() {
  static const ProgramText kText = {
      .name = "agoq-worker",
      .description = "Runs the trainers of one worker for an agoq coordinator.",
      .env_prefix = "AGOQ_WORKER"};
  return kText;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "agoq-worker: %s\n", std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) ? kSettingsAreWrong : EXIT_FAILURE;
}

int Main(int argc, char** argv) {
  BlockTerminationSignals();
  v1::WorkerConfig config;
  if (const auto code = ReadDaemonOptions(Text(), argc, argv, &config)) return *code;
  const absl::StatusOr<v1::WorkerConfig> settings = CompleteSettings(config);
  if (!settings.ok()) return Fail(settings.status());
  Log log("worker", settings->log_level());
  const absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(*settings, log);
  if (!daemon.ok()) return Fail(daemon.status());
  WaitForTermination([&] {
    v1::WorkerConfig reread;
    if (!ReadDaemonOptions(Text(), argc, argv, &reread)) log.SetLevel(reread.log_level());
  });
  (*daemon)->Drain();
  log.Info("worker stopped", {{"worker", settings->name()}});
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace agoq

int main(int argc, char** argv) { return agoq::Main(argc, argv); }
