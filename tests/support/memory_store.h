// A store in memory that can be told to fail.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/store.h"

namespace agoq {

class MemoryStore : public Store {
 public:
  absl::StatusOr<std::int64_t> BeginEpoch() override { return ++epoch_; }
  absl::Status Transaction(std::int64_t epoch,
                           absl::FunctionRef<void(StoreWriter&)> write) override;
  absl::StatusOr<StoredState> Load() override;
  absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) override;
  absl::StatusOr<std::vector<v1::Attempt>> ListAttempts(const std::string&) override {
    return std::vector<v1::Attempt>();
  }
  std::int64_t SizeBytes() const override { return 0; }

  void FailNext() { fails_next_ = true; }
  const std::map<std::string, v1::Job>& jobs() const { return state_.jobs; }

 private:
  struct State : public StoreWriter {
    std::map<std::string, v1::Job> jobs;
    std::vector<v1::Event> events;
    std::map<std::string, std::string> requests;

    void PutJob(const v1::Job& job) override { jobs[job.id()] = job; }
    void PutEvent(const v1::Event& event) override { events.push_back(event); }
    void PutRequest(const std::string& id, const std::string& job) override { requests[id] = job; }
  };

  State state_;
  std::int64_t epoch_ = 0;
  bool fails_next_ = false;
};

}  // namespace agoq
