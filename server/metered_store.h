// A store whose transactions are timed.
#pragma once

#include "server/metrics.h"
#include "server/store.h"

namespace agoq {

class MeteredStore : public Store {
 public:
  // Both outlive it.
  MeteredStore(Store& store, CoordinatorMetrics& metrics) : store_(store), metrics_(metrics) {}

  absl::StatusOr<std::int64_t> BeginEpoch() override { return store_.BeginEpoch(); }
  absl::Status Transaction(std::int64_t epoch,
                           absl::FunctionRef<void(StoreWriter&)> write) override;
  absl::StatusOr<StoredState> Load() override { return store_.Load(); }
  absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) override {
    return store_.ListEvents(query);
  }
  absl::StatusOr<std::vector<v1::Attempt>> ListAttempts(const std::string& job_id) override {
    return store_.ListAttempts(job_id);
  }
  std::int64_t SizeBytes() const override { return store_.SizeBytes(); }

 private:
  Store& store_;
  CoordinatorMetrics& metrics_;
};

}  // namespace agoq
