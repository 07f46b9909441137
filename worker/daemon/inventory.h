// What memory this worker has, and what of it is free.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "proto/agoq/v1/worker_service.pb.h"

namespace agoq {

// Memory that a running rank of this daemon may use, whether it does already or not.
struct HeldMemory {
  std::int64_t device = 0;
  std::int64_t budget_bytes = 0;
  pid_t pid = 0;  // 0: not started yet
};

struct DeviceReading {
  std::vector<v1::Device> devices;
  std::string problem;  // for people; empty: healthy
};

// Thread-safe.
class Inventory {
 public:
  virtual ~Inventory() = default;
  virtual v1::Device::Kind kind() const = 0;  // of every device of this worker
  virtual DeviceReading Read(const std::vector<HeldMemory>& held) = 0;
};

struct InventoryOptions {
  std::string device = "auto";    // auto, cpu or cuda
  std::int64_t memory_bytes = 0;  // of a CPU worker; 0: what the cgroup or else the machine has
  std::filesystem::path proc = "/proc";
  std::filesystem::path cgroup = "/sys/fs/cgroup";
  std::string nvml = "libnvidia-ml.so.1";
};

// INVALID_ARGUMENT: no such device word. FAILED_PRECONDITION: cuda is asked for and NVML finds no
// GPU, or the machine's memory cannot be read.
absl::StatusOr<std::unique_ptr<Inventory>> NewInventory(const InventoryOptions& options);

}  // namespace agoq
