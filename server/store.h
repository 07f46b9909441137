// What the coordinator must not forget: jobs, their attempts, the answers to requests, and events.
// Used on the state thread alone.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

// Writes of one transaction. Errors are kept and fail the commit.
class StoreWriter {
 public:
  virtual ~StoreWriter() = default;
  // The job, and its newest attempt if it has one; replaces what is there.
  virtual void PutJob(const v1::Job& job) = 0;
  // Sequence numbers come from the caller, growing.
  virtual void PutEvent(const v1::Event& event) = 0;
  // The job that a submit request made.
  virtual void PutRequest(const std::string& request_id, const std::string& job_id) = 0;
};

struct StoredState {
  std::vector<v1::Job> jobs;  // each with its newest attempt
  // Request id and job id.
  std::vector<std::pair<std::string, std::string>> requests;
  std::int64_t last_event = 0;  // sequence number; 0: none
};

struct EventQuery {
  std::string job_id;  // empty: every job's
  std::int64_t after_sequence = 0;
  std::int64_t limit = 50;
};

class Store {
 public:
  virtual ~Store() = default;

  // Makes this process the only writer and returns its epoch: one more than any before.
  virtual absl::StatusOr<std::int64_t> BeginEpoch() = 0;
  // All of `write`, durable, or nothing. ABORTED if another process began a later epoch,
  // RESOURCE_EXHAUSTED if the disk is full, DATA_LOSS if the database is damaged.
  virtual absl::Status Transaction(std::int64_t epoch,
                                   absl::FunctionRef<void(StoreWriter&)> write) = 0;
  virtual absl::StatusOr<StoredState> Load() = 0;
  // In the order of their sequence.
  virtual absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) = 0;
  virtual absl::StatusOr<std::vector<v1::Attempt>> ListAttempts(const std::string& job_id) = 0;
  virtual std::int64_t SizeBytes() const = 0;
};

}  // namespace agoq
