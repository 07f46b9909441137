// The rendezvous of an attempt over its daemon.
#pragma once

#include <chrono>
#include <string>

#include "worker/comm/key_value_store.h"
#include "worker/trainer/daemon_link.h"

namespace agoq {

class DaemonKeyValueStore : public KeyValueStore {
 public:
  // `link` outlives it; a Set that gets no answer within `patience` throws.
  DaemonKeyValueStore(DaemonLink& link, std::chrono::milliseconds patience)
      : link_(link), patience_(patience) {}

  void Set(const std::string& key, const std::string& value) override {
    link_.SetKey(key, value, std::chrono::steady_clock::now() + patience_);
  }
  std::string Wait(const std::string& key,
                   std::chrono::steady_clock::time_point deadline) override {
    return link_.WaitKey(key, deadline);
  }

 private:
  DaemonLink& link_;
  const std::chrono::milliseconds patience_;
};

}  // namespace agoq
