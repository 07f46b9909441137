// How a rank ended, put together from what is known of it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/agoq/v1/trainer.pb.h"
#include "worker/daemon/trainer_process.h"

namespace agoq {

struct RankEnd {
  v1::RankId id;
  std::optional<v1::TrainerEnd> report;  // the trainer's own words
  std::optional<ProcessEnd> process;     // nothing: it ended while the daemon was away
  // Why this daemon killed it, or could not start it. Empty: it did neither.
  std::string intervention;
  bool never_prepared = false;  // with `intervention`: it was about the start
  bool is_orphan = false;       // stopped since the coordinator was away for too long
  std::string log_tail;
  std::int64_t at_unix_nanos = 0;
};

// The trainer's report wins over what its process shows.
v1::TaskStatus ExitedStatus(const RankEnd& end);

// For a command about a rank that is not here.
v1::TaskStatus UnknownRankStatus(const v1::RankId& id, std::int64_t at_unix_nanos);

// "ended by signal 9 (Killed)" or "ended with exit code 3".
std::string DescribeEnd(const ProcessEnd& end);

}  // namespace agoq
