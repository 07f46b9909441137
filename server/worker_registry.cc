#include "server/worker_registry.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <utility>

#include "proto/common/status.h"

namespace agoq {
namespace {

google::protobuf::Timestamp ToProto(Clock::Wall time) {
  return google::protobuf::util::TimeUtil::NanosecondsToTimestamp(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

std::string WhyNot(const WorkerEntry& worker, v1::WorkerState state) {
  switch (state) {
    case v1::WORKER_STATE_READY:
      return worker.problem.empty() ? "" : absl::StrCat("has a problem: ", worker.problem);
    case v1::WORKER_STATE_RESERVED:
    case v1::WORKER_STATE_BUSY:
      return absl::StrCat("works for job ", worker.hold->job_id);
    case v1::WORKER_STATE_UNREACHABLE:
      return "is unreachable";
    case v1::WORKER_STATE_LOST:
      return "is lost";
    default:
      return "is not connected yet";
  }
}

}  // namespace

WorkerRegistry::WorkerRegistry(const Clock& clock, std::int64_t epoch, const LeaseOptions& options)
    : clock_(clock), epoch_(epoch), options_(options), started_(clock.Now()) {}

absl::Status WorkerRegistry::Join(const v1::Hello& hello, std::shared_ptr<WorkerLink> link) {
  WorkerEntry& worker = workers_[hello.worker()];
  const bool is_other = worker.hello.incarnation() != hello.incarnation();
  if (worker.link != nullptr && is_other && !IsUnreachable(worker)) {
    return ResourceExists(
        "worker", hello.worker(),
        absl::StrCat("a worker of this name is connected, heard ",
                     static_cast<int>(SilenceSeconds(worker)),
                     " s ago; give this one another --name, or wait if the other one died"));
  }
  if (worker.link != nullptr) {
    worker.link->Close(absl::AbortedError("a newer session of this worker took its place"));
  }
  worker.hello = hello;
  worker.hello.clear_tasks();
  worker.devices.assign(hello.devices().begin(), hello.devices().end());
  worker.problem.clear();
  worker.link = std::move(link);
  worker.heard = clock_.Now();
  worker.heard_at = worker.connected_at = clock_.WallNow();
  worker.is_lost = false;
  return absl::OkStatus();
}

void WorkerRegistry::Leave(const std::string& worker, const WorkerLink* link) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry != nullptr && entry->link.get() == link) entry->link = nullptr;
}

void WorkerRegistry::Heard(const std::string& worker, const v1::Heartbeat& heartbeat) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry == nullptr) return;
  entry->heard = clock_.Now();
  entry->heard_at = clock_.WallNow();
  entry->problem = heartbeat.problem();
  entry->devices.assign(heartbeat.devices().begin(), heartbeat.devices().end());
}

void WorkerRegistry::SetDevices(const std::string& worker, std::vector<v1::Device> devices) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry != nullptr) entry->devices = std::move(devices);
}

void WorkerRegistry::Promise(const std::string& worker, const Hold& hold) {
  const auto [entry, is_new] = workers_.try_emplace(worker);
  if (is_new) {
    entry->second.hello.set_worker(worker);
    entry->second.heard = clock_.Now();
    entry->second.heard_at = clock_.WallNow();
  }
  entry->second.hold = hold;
}

void WorkerRegistry::Release(const std::string& worker, const std::string& job_id) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry != nullptr && entry->hold.has_value() && entry->hold->job_id == job_id) {
    entry->hold.reset();
  }
}

void WorkerRegistry::MarkLost(const std::string& worker) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry == nullptr) return;
  entry->is_lost = true;
  if (entry->link != nullptr) {
    entry->link->Close(absl::UnavailableError("no heartbeat came in time; say hello again"));
    entry->link = nullptr;
  }
}

void WorkerRegistry::CloseAll(const absl::Status& status) {
  for (auto& [name, worker] : workers_) {
    if (worker.link != nullptr) worker.link->Close(status);
    worker.link = nullptr;
  }
}

bool WorkerRegistry::Send(const std::string& worker, v1::CoordinatorMessage message) {
  WorkerEntry* const entry = FindMutable(worker);
  if (entry == nullptr || entry->link == nullptr) return false;
  message.set_epoch(epoch_);
  message.set_command_id(++last_command_);
  entry->link->Send(message);
  return true;
}

WorkerEntry* WorkerRegistry::FindMutable(const std::string& worker) {
  const auto entry = workers_.find(worker);
  return entry == workers_.end() ? nullptr : &entry->second;
}

const WorkerEntry* WorkerRegistry::Find(const std::string& worker) const {
  const auto entry = workers_.find(worker);
  return entry == workers_.end() ? nullptr : &entry->second;
}

double WorkerRegistry::SilenceSeconds(const WorkerEntry& worker) const {
  return std::chrono::duration<double>(clock_.Now() - worker.heard).count();
}

bool WorkerRegistry::IsUnreachable(const WorkerEntry& worker) const {
  return SilenceSeconds(worker) > options_.lease_seconds;
}

bool WorkerRegistry::IsInGrace() const {
  return std::chrono::duration<double>(clock_.Now() - started_).count() < options_.grace_seconds;
}

bool WorkerRegistry::IsIsolated() const {
  std::size_t living = 0;
  std::size_t silent = 0;
  for (const auto& [name, worker] : workers_) {
    if (worker.is_lost) continue;
    ++living;
    if (IsUnreachable(worker)) ++silent;
  }
  return silent >= 3 && 2 * silent > living;
}

v1::WorkerState WorkerRegistry::StateOf(const WorkerEntry& worker) const {
  if (worker.is_lost) return v1::WORKER_STATE_LOST;
  if (IsUnreachable(worker)) return v1::WORKER_STATE_UNREACHABLE;
  if (worker.hold.has_value()) {
    return worker.hold->trains ? v1::WORKER_STATE_BUSY : v1::WORKER_STATE_RESERVED;
  }
  return worker.link == nullptr ? v1::WORKER_STATE_JOINING : v1::WORKER_STATE_READY;
}

std::vector<WorkerOffer> WorkerRegistry::Offers() const {
  std::vector<WorkerOffer> offers;
  for (const auto& [name, worker] : workers_) {
    WorkerOffer& offer = offers.emplace_back();
    offer.worker = name;
    offer.why_not = WhyNot(worker, StateOf(worker));
    if (worker.devices.empty()) {
      if (offer.why_not.empty()) offer.why_not = "has no device";
      continue;
    }
    const v1::Device& device = worker.devices.front();
    offer.free_bytes = device.free_bytes();
    offer.total_bytes = device.total_bytes();
    offer.foreign_bytes = device.foreign_bytes();
  }
  return offers;
}

v1::Worker WorkerRegistry::Describe(const WorkerEntry& worker) const {
  v1::Worker message;
  message.set_name(worker.hello.worker());
  message.set_state(StateOf(worker));
  message.set_message(worker.problem);
  for (const v1::Device& device : worker.devices) *message.add_devices() = device;
  message.set_metrics_url(worker.hello.metrics_url());
  message.set_version(worker.hello.version());
  message.set_incarnation(worker.hello.incarnation());
  *message.mutable_last_heard_at() = ToProto(worker.heard_at);
  *message.mutable_connected_at() = ToProto(worker.connected_at);
  message.set_rank(-1);
  if (worker.hold.has_value()) {
    message.set_job_id(worker.hold->job_id);
    message.set_rank(worker.hold->rank);
    message.set_generation(worker.hold->generation);
  }
  return message;
}

}  // namespace agoq
