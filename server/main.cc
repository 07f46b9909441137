// agoq-coordinator: places jobs on workers, plans their bits, and remembers.
#include <iostream>
#include <string>

#include "proto/agoq/v1/config.pb.h"
#include "proto/common/daemon_options.h"
#include "proto/common/lifecycle.h"
#include "proto/common/log.h"
#include "server/coordinator.h"

namespace agoq {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int Run(int argc, char** argv) {
  BlockTerminationSignals();
  v1::CoordinatorConfig config;
  const std::optional<int> done =
      ReadDaemonOptions({.name = "agoq-coordinator",
                         .description = "Places training jobs on workers and plans their bits",
                         .env_prefix = "AGOQ_COORDINATOR"},
                        argc, argv, &config);
  if (done.has_value()) return *done;
  const Log log("coordinator", config.log_level());
  absl::StatusOr<std::unique_ptr<Coordinator>> coordinator = Coordinator::Start(config, log);
  if (!coordinator.ok()) {
    std::cerr << "agoq-coordinator: " << coordinator.status().message() << "\n";
    return absl::IsInvalidArgument(coordinator.status()) ? kUsage : kFailed;
  }
  log.Info("serving", {{"address", (*coordinator)->address()},
                       {"metrics", (*coordinator)->metrics_url()},
                       {"state_directory", config.state_directory()}});
  WaitForTermination([] {});
  log.Info("shutting down");
  (*coordinator)->Stop();
  return 0;
}

}  // namespace
}  // namespace agoq

int main(int argc, char** argv) { return agoq::Run(argc, argv); }
