#include "worker/memory/resident_bytes.h"

#include <fstream>
#include <string>

namespace agoq {
namespace {

// A line of /proc/self/status: "VmRSS:    1234 kB".
std::int64_t StatusBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) return std::stoll(line.substr(field.size())) * 1024;
  }
  return 0;
}

}  // namespace

std::int64_t ResidentBytes() { return StatusBytes("VmRSS:"); }
std::int64_t PeakResidentBytes() { return StatusBytes("VmHWM:"); }

}  // namespace agoq
