#include "tests/support/memory_store.h"

#include <algorithm>

namespace agoq {

absl::Status MemoryStore::Transaction(std::int64_t epoch,
                                      absl::FunctionRef<void(StoreWriter&)> write) {
  if (epoch != epoch_) return absl::AbortedError("another epoch");
  if (std::exchange(fails_next_, false)) return absl::ResourceExhaustedError("disk full");
  write(state_);  // callers write once their mind is made up: nothing to undo
  return absl::OkStatus();
}

absl::StatusOr<StoredState> MemoryStore::Load() {
  StoredState stored;
  for (const auto& [id, job] : state_.jobs) stored.jobs.push_back(job);
  std::sort(stored.jobs.begin(), stored.jobs.end(),
            [](const v1::Job& a, const v1::Job& b) { return a.sequence() < b.sequence(); });
  stored.requests.assign(state_.requests.begin(), state_.requests.end());
  stored.last_event = static_cast<std::int64_t>(state_.events.size());
  return stored;
}

absl::StatusOr<std::vector<v1::Event>> MemoryStore::ListEvents(const EventQuery& query) {
  std::vector<v1::Event> events;
  for (const v1::Event& event : state_.events) {
    const bool is_of_job = query.job_id.empty() || event.job_id() == query.job_id;
    if (is_of_job && event.sequence() > query.after_sequence) events.push_back(event);
  }
  return events;
}

}  // namespace agoq
