#include "server/rendezvous.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/common/status.h"

namespace agoq {

void Rendezvous::Open(const std::string& job_id, std::int64_t generation) {
  const auto known = attempts_.find(job_id);
  if (known != attempts_.end() && known->second.generation == generation) return;
  Close(job_id);
  attempts_[job_id].generation = generation;
}

void Rendezvous::Close(const std::string& job_id) {
  const auto known = attempts_.find(job_id);
  if (known == attempts_.end()) return;
  const Attempt ended = std::move(known->second);
  attempts_.erase(known);
  for (const auto& [key, waiters] : ended.waiters) {
    for (const Waiter& waiter : waiters) {
      waiter(StaleGeneration(absl::StrCat("key ", key, " of job ", job_id, ": generation ",
                                          ended.generation, " is over")));
    }
  }
}

absl::StatusOr<Rendezvous::Attempt*> Rendezvous::Find(const v1::RankId& id) {
  const auto known = attempts_.find(id.job_id());
  if (known != attempts_.end() && known->second.generation == id.generation()) {
    return &known->second;
  }
  return StaleGeneration(absl::StrCat(
      "job ", id.job_id(), ": generation ", id.generation(), " has no rendezvous",
      known == attempts_.end() ? "" : absl::StrCat(", it is ", known->second.generation, " now"),
      "; end that attempt"));
}

absl::Status Rendezvous::Set(const v1::RankId& id, const std::string& key,
                             const std::string& value) {
  const absl::StatusOr<Attempt*> attempt = Find(id);
  if (!attempt.ok()) return attempt.status();
  const auto [entry, is_new] = (*attempt)->values.emplace(key, value);
  if (!is_new && entry->second != value) {
    return absl::AlreadyExistsError(absl::StrCat("key ", key, " of job ", id.job_id(),
                                                 ", generation ", id.generation(),
                                                 ": is set already, with another value"));
  }
  const std::vector<Waiter> waiters = std::exchange((*attempt)->waiters[key], {});
  for (const Waiter& waiter : waiters) waiter(value);
  return absl::OkStatus();
}

void Rendezvous::Wait(const v1::RankId& id, const std::string& key, Waiter waiter) {
  const absl::StatusOr<Attempt*> attempt = Find(id);
  if (!attempt.ok()) return waiter(attempt.status());
  const auto entry = (*attempt)->values.find(key);
  if (entry != (*attempt)->values.end()) return waiter(entry->second);
  (*attempt)->waiters[key].push_back(std::move(waiter));
}

}  // namespace agoq
