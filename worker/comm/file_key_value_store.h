// A rendezvous in a directory that all ranks can reach.
#pragma once

#include <filesystem>
#include <string>

#include "worker/comm/key_value_store.h"

namespace agoq {

// Each key is a file, written under a temporary name and linked into place. Safe for any number of
// threads and processes.
class FileKeyValueStore : public KeyValueStore {
 public:
  // Creates `directory` if absent and marks it with `run_id`. Throws std::runtime_error when it
  // holds keys of another run or cannot be written, std::invalid_argument when `run_id` is empty.
  FileKeyValueStore(std::filesystem::path directory, const std::string& run_id);

  void Set(const std::string& key, const std::string& value) override;
  // Polls every 5 ms.
  std::string Wait(const std::string& key, std::chrono::steady_clock::time_point deadline) override;

 private:
  void ClaimFor(const std::string& run_id);
  bool HoldsKeys() const;
  // False when `name` exists already.
  bool Publish(const std::string& name, const std::string& value) const;

  const std::filesystem::path directory_;
};

}  // namespace agoq
