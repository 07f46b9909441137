// Memory of the machine and of the control group, from text files of the kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace agoq {

struct MemoryLimit {
  std::int64_t total_bytes = 0;
  std::int64_t used_bytes = 0;  // by anyone, without what the kernel gives back on demand
};

// MemTotal and MemAvailable of PROC/meminfo.
std::optional<MemoryLimit> MachineMemory(const std::filesystem::path& proc);

// The smallest limit of the process's memory control groups, from its own up to the root. Nothing:
// no group has a limit. `cgroup` is where their file systems are mounted.
std::optional<MemoryLimit> GroupMemory(const std::filesystem::path& proc,
                                       const std::filesystem::path& cgroup);

// Resident bytes of a process; 0: it is gone.
std::int64_t ResidentBytes(const std::filesystem::path& proc, pid_t pid);

}  // namespace agoq
