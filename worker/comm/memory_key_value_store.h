// A rendezvous inside one process.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "worker/comm/key_value_store.h"

namespace agoq {

// Thread-safe.
class MemoryKeyValueStore : public KeyValueStore {
 public:
  void Set(const std::string& key, const std::string& value) override;
  std::string Wait(const std::string& key, std::chrono::steady_clock::time_point deadline) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;  // guarded by mutex_
};

}  // namespace agoq
