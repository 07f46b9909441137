// The rendezvous of one attempt: ranks publish and await small values. Std only.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace agoq {

class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  // Each key is set once in an attempt; a second Set throws std::runtime_error that names the key.
  virtual void Set(const std::string& key, const std::string& value) = 0;
  // Blocks until the key exists. Throws std::runtime_error naming the key when the deadline passes.
  virtual std::string Wait(const std::string& key,
                           std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace agoq
