// A trainer as a process that may or may not be a child of this one, and the system call side of it
// as an interface, so that a test can supply one that does not die.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace agoq {

// A process id alone may be used again by another process.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  // field 22 of /proc/PID/stat, in clock ticks

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

struct ProcessEnd {
  int exit_code = -1;  // -1: ended by a signal, or unknown since it was no child
  int signal = 0;      // 0: none, or unknown
};

// One thread uses it. Its destruction leaves the process alone.
class TrainerProcess {
 public:
  virtual ~TrainerProcess() = default;
  virtual ProcessIdentity identity() const = 0;
  // Nothing: it lives on. After its end what is left of its group is killed.
  virtual std::optional<ProcessEnd> WaitForEnd(std::chrono::milliseconds timeout) = 0;
  // SIGKILL to it and everything in its process group.
  virtual void KillGroup() = 0;
};

// The descriptor at which a spawned process finds SpawnRequest::folder.
inline constexpr int kInheritedFolder = 3;

struct SpawnRequest {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program's name
  std::filesystem::path log;           // takes standard output and error, appended
  std::filesystem::path folder;        // is open in the process; empty: none
};

// Thread-safe.
class ProcessTable {
 public:
  virtual ~ProcessTable() = default;
  // Starts it as the leader of a process group of its own, with no signal blocked or ignored.
  virtual absl::StatusOr<std::unique_ptr<TrainerProcess>> Spawn(const SpawnRequest& request) = 0;
  // NOT_FOUND: it is gone, or another process has its id.
  virtual absl::StatusOr<std::unique_ptr<TrainerProcess>> Adopt(
      const ProcessIdentity& identity) = 0;
};

}  // namespace agoq
