#include "worker/daemon/memory_limits.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace agoq {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "no limit" as a number near 2^63.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::vector<std::string> ReadLines(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The number after the first word of the line that starts with `key`.
std::optional<std::int64_t> ReadField(const fs::path& path, std::string_view key) {
  for (const std::string& line : ReadLines(path)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    std::int64_t value = 0;
    if (words.size() >= 2 && words[0] == key && absl::SimpleAtoi(words[1], &value)) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ReadNumber(const fs::path& path) {
  const std::vector<std::string> lines = ReadLines(path);
  std::int64_t value = 0;
  if (lines.empty() || !absl::SimpleAtoi(lines[0], &value)) return std::nullopt;  // "max" too
  return value;
}

// One version of the memory control group's files.
struct GroupFiles {
  fs::path mount;
  fs::path group;  // relative to the mount
  const char* limit;
  const char* usage;
  std::string_view inactive;  // field of memory.stat
};

// Lines of PROC/self/cgroup are "ID:CONTROLLERS:PATH"; version 2 has ID 0 and no controllers.
std::vector<GroupFiles> GroupsOf(const fs::path& proc, const fs::path& cgroup) {
  std::vector<GroupFiles> groups;
  for (const std::string& line : ReadLines(proc / "self" / "cgroup")) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const fs::path group(std::string(absl::StripPrefix(parts[2], "/")));
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool has_memory =
        std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    if (parts[0] == "0" && parts[1].empty()) {
      groups.push_back({cgroup, group, "memory.max", "memory.current", "inactive_file"});
    } else if (has_memory) {
      groups.push_back({cgroup / "memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file"});
    }
  }
  return groups;
}

std::optional<MemoryLimit> LimitOf(const GroupFiles& files, const fs::path& folder) {
  const std::optional<std::int64_t> total = ReadNumber(folder / files.limit);
  if (!total || *total >= kNoLimit) return std::nullopt;
  const std::int64_t usage = ReadNumber(folder / files.usage).value_or(0);
  const std::int64_t inactive = ReadField(folder / "memory.stat", files.inactive).value_or(0);
  return MemoryLimit{.total_bytes = *total,
                     .used_bytes = std::max<std::int64_t>(usage - inactive, 0)};
}

}  // namespace

std::optional<MemoryLimit> MachineMemory(const fs::path& proc) {
  const std::optional<std::int64_t> total = ReadField(proc / "meminfo", "MemTotal:");
  if (!total) return std::nullopt;
  const std::int64_t available = ReadField(proc / "meminfo", "MemAvailable:").value_or(*total);
  return MemoryLimit{.total_bytes = *total * 1024, .used_bytes = (*total - available) * 1024};
}

std::optional<MemoryLimit> GroupMemory(const fs::path& proc, const fs::path& cgroup) {
  std::optional<MemoryLimit> smallest;
  for (const GroupFiles& files : GroupsOf(proc, cgroup)) {
    // In a container the path may be the host's, and only the mount's root be there.
    for (fs::path group = files.group;; group = group.parent_path()) {
      const std::optional<MemoryLimit> limit = LimitOf(files, files.mount / group);
      if (limit && (!smallest || limit->total_bytes < smallest->total_bytes)) smallest = limit;
      if (group.empty() || group == group.parent_path()) break;
    }
  }
  return smallest;
}

std::int64_t ResidentBytes(const fs::path& proc, pid_t pid) {
  const std::vector<std::string> lines = ReadLines(proc / absl::StrCat(pid) / "statm");
  if (lines.empty()) return 0;
  const std::vector<std::string> words = absl::StrSplit(lines[0], ' ');
  std::int64_t pages = 0;
  if (words.size() < 2 || !absl::SimpleAtoi(words[1], &pages)) return 0;
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace agoq
