// All jobs, in memory and in the store: the two change together or not at all. State thread alone.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/common/clock.h"
#include "server/store.h"

namespace agoq {

// Hears of every change once it is durable. Must not change the table.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void OnChange(const v1::Job& job, const v1::Event& event) = 0;
  // A change could not be stored: nothing happened, the next tick tries again.
  virtual void OnStoreError(const absl::Status& status) = 0;
};

struct Change {
  std::string kind;  // word of Event.kind
  std::string actor = "coordinator";
  std::string message;
};

class JobTable {
 public:
  // All outlive it.
  JobTable(Store& store, const Clock& clock, std::int64_t epoch, JobObserver& observer)
      : store_(store), clock_(clock), epoch_(epoch), observer_(observer) {}

  absl::Status Load();

  // Stores `job` (new, or in the place of the one with its id) with an event. A new state must be
  // one that may follow the present one (job_state.h); its `since` is set here. On an error nothing
  // has changed, and the observer was told.
  absl::Status Put(v1::Job job, const Change& change, const std::string& request_id = "");

  const v1::Job* Find(const std::string& id) const;
  // Id, or name: the newest job of that name.
  const v1::Job* FindByIdOrName(const std::string& id_or_name) const;
  // The job that a request made before.
  const v1::Job* FindRequest(const std::string& request_id) const;
  // Not terminal and of that name, if there is one.
  const v1::Job* FindLiving(const std::string& name) const;

  // In the order of submission.
  std::vector<std::string> Queued() const;
  std::vector<std::string> Active() const;
  std::vector<std::string> NewestFirst() const;
  // Jobs by state.
  std::map<v1::JobState, std::int64_t> Count() const;

  std::int64_t next_job_sequence() const { return next_job_; }
  std::int64_t last_event() const { return last_event_; }
  google::protobuf::Timestamp Now() const;

 private:
  void Index(const v1::Job& job);

  Store& store_;
  const Clock& clock_;
  const std::int64_t epoch_;
  JobObserver& observer_;
  std::map<std::string, v1::Job> jobs_;              // by id
  std::map<std::int64_t, std::string> by_sequence_;  // ids
  std::map<std::string, std::string> by_name_;       // id of the newest
  std::map<std::string, std::string> by_request_;    // ids
  std::set<std::int64_t> queued_;                    // sequences
  std::set<std::int64_t> active_;
  std::int64_t next_job_ = 1;
  std::int64_t last_event_ = 0;
};

}  // namespace agoq
