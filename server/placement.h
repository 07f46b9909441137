// Which workers hold a job's ranks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

struct WorkerOffer {
  std::string worker;
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t foreign_bytes = 0;  // used by others than agoq
  std::string why_not;             // not empty: takes no rank now (busy, unreachable, ...)
};

struct GangNeed {
  std::int64_t num_ranks = 1;
  std::int64_t least_bytes = 0;   // of each rank
  std::int64_t budget_bytes = 0;  // the job's own bound; 0: none
};

struct GangPlacement {
  std::vector<v1::Placement> placements;  // empty: no room
  v1::JobReason reason = v1::JOB_REASON_UNSPECIFIED;
  std::string message;  // what each worker lacks, with numbers
};

// All ranks or none. Workers with the most free memory come first, then by name: an unchanged
// cluster gives the same ranks again.
GangPlacement PlaceGang(const GangNeed& need, std::vector<WorkerOffer> offers);

// As if every worker were idle and all that others do not use were free.
GangPlacement PlaceOnIdleCluster(const GangNeed& need, std::vector<WorkerOffer> offers);

}  // namespace agoq
