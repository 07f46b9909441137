#include "worker/comm/memory_key_value_store.h"

#include <stdexcept>

namespace agoq {

void MemoryKeyValueStore::Set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  if (!values_.emplace(key, value).second) {
    throw std::runtime_error("rendezvous: key '" + key +
                             "' is set already; two ranks may have the same number");
  }
  changed_.notify_all();
}

std::string MemoryKeyValueStore::Wait(const std::string& key,
                                      std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, deadline, [&] { return values_.contains(key); })) {
    throw std::runtime_error("rendezvous: key '" + key +
                             "' did not come in time; see whether the rank that sets it runs");
  }
  return values_.at(key);
}

}  // namespace agoq
