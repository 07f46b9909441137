// The state directory, held by one daemon at a time.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>

#include "worker/daemon/file_handle.h"

namespace agoq {

// Makes the folder if it is absent, then holds its lock file until it is destroyed or the process
// ends. INVALID_ARGUMENT: it cannot be written, or another daemon (whose process id is told) has
// it.
class StateLock {
 public:
  static absl::StatusOr<StateLock> Take(const std::filesystem::path& state_directory);

 private:
  explicit StateLock(FileHandle file) : file_(std::move(file)) {}

  FileHandle file_;
};

}  // namespace agoq
