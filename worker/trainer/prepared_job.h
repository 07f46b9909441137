// A job file as everything that its ranks need.
#pragma once

#include <string>
#include <vector>

#include "worker/train/train_options.h"

namespace agoq {

struct PreparedJob {
  TrainOptions options;
  int num_ranks = 1;
  std::string run_id;      // the same for all ranks of a job, different for different jobs
  std::string plan_table;  // for people
  std::vector<std::string> warnings;
};

// `policy` replaces the job's plan: full, paper, recompute, or the path of a BitPlan as JSON;
// empty: the job's own plan. Throws UsageError with every problem of the files.
PreparedJob PrepareJob(const std::string& job_path, const std::string& policy);

}  // namespace agoq
