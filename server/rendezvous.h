// The keys by which the ranks of an attempt find each other. Dropped with the attempt, refused for
// an older generation. State thread alone.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"

namespace agoq {

class Rendezvous {
 public:
  // Called once: with the value, or with ABORTED when the attempt ends first.
  using Waiter = std::function<void(absl::StatusOr<std::string>)>;

  // From now on only this generation of the job counts.
  void Open(const std::string& job_id, std::int64_t generation);
  void Close(const std::string& job_id);

  // ABORTED (stale generation), ALREADY_EXISTS (set with another value; the same value again is
  // no error, since a lost answer is asked for again).
  absl::Status Set(const v1::RankId& id, const std::string& key, const std::string& value);
  // Calls `waiter` at once if the key is there.
  void Wait(const v1::RankId& id, const std::string& key, Waiter waiter);

 private:
  struct Attempt {
    std::int64_t generation = 0;
    std::map<std::string, std::string> values;
    std::map<std::string, std::vector<Waiter>> waiters;
  };

  absl::StatusOr<Attempt*> Find(const v1::RankId& id);

  std::map<std::string, Attempt> attempts_;  // by job
};

}  // namespace agoq
