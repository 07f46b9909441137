#include "server/job_table.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <utility>

#include "server/job_state.h"

namespace agoq {

absl::Status JobTable::Load() {
  absl::StatusOr<StoredState> stored = store_.Load();
  if (!stored.ok()) return stored.status();
  for (v1::Job& job : stored->jobs) {
    Index(job);
    jobs_[job.id()] = std::move(job);
  }
  by_request_ = {stored->requests.begin(), stored->requests.end()};
  last_event_ = stored->last_event;
  return absl::OkStatus();
}

absl::Status JobTable::Put(v1::Job job, const Change& change, const std::string& request_id) {
  const v1::Job* const old = Find(job.id());
  const v1::JobState from = old == nullptr ? v1::JOB_STATE_UNSPECIFIED : old->status().state();
  const v1::JobState to = job.status().state();
  if (old != nullptr && from != to && !MayMove(from, to)) {
    return absl::InternalError(absl::StrCat("job ", job.id(), ": ", v1::JobState_Name(from),
                                            " may not become ", v1::JobState_Name(to)));
  }
  if (from != to) *job.mutable_status()->mutable_since() = Now();
  v1::Event event;
  event.set_sequence(last_event_ + 1);
  *event.mutable_at() = Now();
  event.set_actor(change.actor);
  event.set_job_id(job.id());
  event.set_kind(change.kind);
  event.set_old_state(from);
  event.set_new_state(to);
  event.set_reason(job.status().reason());
  event.set_generation(job.status().generation());
  event.set_message(change.message);
  const absl::Status stored = store_.Transaction(epoch_, [&](StoreWriter& writer) {
    writer.PutJob(job);
    writer.PutEvent(event);
    if (!request_id.empty()) writer.PutRequest(request_id, job.id());
  });
  if (!stored.ok()) {
    observer_.OnStoreError(stored);
    return stored;
  }
  last_event_ = event.sequence();
  if (!request_id.empty()) by_request_[request_id] = job.id();
  Index(job);
  v1::Job& kept = jobs_[job.id()];
  kept = std::move(job);
  observer_.OnChange(kept, event);
  return absl::OkStatus();
}

void JobTable::Index(const v1::Job& job) {
  const std::int64_t sequence = job.sequence();
  by_sequence_[sequence] = job.id();
  next_job_ = std::max(next_job_, sequence + 1);
  const v1::Job* const namesake = FindByIdOrName(job.spec().name());
  if (namesake == nullptr || namesake->sequence() <= sequence)
    by_name_[job.spec().name()] = job.id();
  queued_.erase(sequence);
  active_.erase(sequence);
  if (job.status().state() == v1::JOB_STATE_QUEUED) queued_.insert(sequence);
  if (IsActive(job.status().state())) active_.insert(sequence);
}

const v1::Job* JobTable::Find(const std::string& id) const {
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : &job->second;
}

const v1::Job* JobTable::FindByIdOrName(const std::string& id_or_name) const {
  if (const v1::Job* job = Find(id_or_name)) return job;
  const auto named = by_name_.find(id_or_name);
  return named == by_name_.end() ? nullptr : Find(named->second);
}

const v1::Job* JobTable::FindRequest(const std::string& request_id) const {
  const auto made = by_request_.find(request_id);
  return made == by_request_.end() ? nullptr : Find(made->second);
}

const v1::Job* JobTable::FindLiving(const std::string& name) const {
  const auto named = by_name_.find(name);
  const v1::Job* const job = named == by_name_.end() ? nullptr : Find(named->second);
  return job == nullptr || IsTerminal(job->status().state()) ? nullptr : job;
}

std::vector<std::string> JobTable::Queued() const {
  std::vector<std::string> ids;
  for (const std::int64_t sequence : queued_) ids.push_back(by_sequence_.at(sequence));
  return ids;
}

std::vector<std::string> JobTable::Active() const {
  std::vector<std::string> ids;
  for (const std::int64_t sequence : active_) ids.push_back(by_sequence_.at(sequence));
  return ids;
}

std::vector<std::string> JobTable::NewestFirst() const {
  std::vector<std::string> ids;
  for (auto entry = by_sequence_.rbegin(); entry != by_sequence_.rend(); ++entry) {
    ids.push_back(entry->second);
  }
  return ids;
}

std::map<v1::JobState, std::int64_t> JobTable::Count() const {
  std::map<v1::JobState, std::int64_t> counts;
  for (const auto& [id, job] : jobs_) ++counts[job.status().state()];
  return counts;
}

google::protobuf::Timestamp JobTable::Now() const {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.WallNow().time_since_epoch())
          .count());
}

}  // namespace agoq
