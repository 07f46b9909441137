// Streams of job changes to watchers, each with a bounded queue: a slow reader loses progress
// reports, never an event. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <map>
#include <memory>
#include <string>

#include "proto/agoq/v1/job_service.pb.h"

namespace agoq {

// One watcher. Its methods must not block, nor call the hub.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void OnUpdate(const v1::WatchJobResponse& update) = 0;
  // No more will come: the coordinator shuts down.
  virtual void OnShutdown() = 0;
};

class WatchHub {
 public:
  void Add(const std::string& job_id, std::shared_ptr<Watcher> watcher);
  void Remove(const std::string& job_id, const Watcher* watcher);
  void Publish(const v1::WatchJobResponse& update);
  void Shutdown();
  bool HasWatcher(const std::string& job_id) const;

 private:
  mutable absl::Mutex mutex_;
  // By job.
  std::multimap<std::string, std::shared_ptr<Watcher>> watchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace agoq
