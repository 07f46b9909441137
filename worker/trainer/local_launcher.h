// All ranks of a job as processes of this machine.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace agoq {

struct LaunchOptions {
  int num_ranks = 1;
  // Arguments of one rank's process, which runs `program`; `rendezvous` is a fresh folder, removed
  // at the end.
  std::function<std::vector<std::string>(int rank, const std::string& rendezvous)> arguments_of;
  std::string program;
  // Ranks that outlive a failed one, or a second stop signal, for so long are killed.
  std::chrono::milliseconds grace{3000};
};

// Starts the ranks, passes SIGINT and SIGTERM on to each, and returns when all are gone: 0 if all
// ended so; 2 if a rank ended with 2; 130 or 143 if they stopped by signal; else 1. Says on
// standard error which rank a signal ended. Call it before the process has other threads. Throws
// std::runtime_error when a process or the folder cannot be made.
int LaunchLocalRanks(const LaunchOptions& options);

}  // namespace agoq
