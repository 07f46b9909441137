#include "server/watch_hub.h"

#include <utility>
#include <vector>

namespace agoq {

void WatchHub::Add(const std::string& job_id, std::shared_ptr<Watcher> watcher) {
  const absl::MutexLock lock(&mutex_);
  watchers_.emplace(job_id, std::move(watcher));
}

void WatchHub::Remove(const std::string& job_id, const Watcher* watcher) {
  const absl::MutexLock lock(&mutex_);
  const auto [begin, end] = watchers_.equal_range(job_id);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second.get() != watcher) continue;
    watchers_.erase(entry);
    return;
  }
}

void WatchHub::Publish(const v1::WatchJobResponse& update) {
  std::vector<std::shared_ptr<Watcher>> receivers;
  {
    const absl::MutexLock lock(&mutex_);
    const auto [begin, end] = watchers_.equal_range(update.job().id());
    for (auto entry = begin; entry != end; ++entry) receivers.push_back(entry->second);
  }
  for (const auto& receiver : receivers) receiver->OnUpdate(update);
}

void WatchHub::Shutdown() {
  std::multimap<std::string, std::shared_ptr<Watcher>> watchers;
  {
    const absl::MutexLock lock(&mutex_);
    watchers.swap(watchers_);
  }
  for (const auto& [job, watcher] : watchers) watcher->OnShutdown();
}

bool WatchHub::HasWatcher(const std::string& job_id) const {
  const absl::MutexLock lock(&mutex_);
  return watchers_.count(job_id) > 0;
}

}  // namespace agoq
