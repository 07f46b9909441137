// One rank of a job in this process.
#pragma once

#include <string>

#include "worker/trainer/prepared_job.h"

namespace agoq {

struct RankOptions {
  int rank = 0;
  int world = 1;
  std::string rendezvous;          // folder that all ranks reach; needed for more than one rank
  std::string host = "127.0.0.1";  // name or address that other ranks reach this one at
  std::string result_path;         // empty: no file
  int launcher_pid = 0;  // when that process is gone, stop as if asked to; 0: nobody to watch
};

// Trains, with progress on standard error by rank 0, and returns the exit code of failure.h. Errors
// are told on standard error.
int RunRank(const PreparedJob& job, const RankOptions& options);

}  // namespace agoq
