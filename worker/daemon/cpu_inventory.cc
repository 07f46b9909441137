#include "worker/daemon/cpu_inventory.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <fstream>

#include "worker/daemon/memory_limits.h"

namespace agoq {
namespace {

// The name of the first processor; "CPU" where the kernel does not tell.
std::string ProcessorName(const std::filesystem::path& proc) {
  std::ifstream file(proc / "cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

std::optional<MemoryLimit> ReadMemory(const InventoryOptions& options) {
  const std::optional<MemoryLimit> machine = MachineMemory(options.proc);
  const std::optional<MemoryLimit> group = GroupMemory(options.proc, options.cgroup);
  if (group && (!machine || group->total_bytes < machine->total_bytes)) return group;
  return machine;
}

class CpuInventory : public Inventory {
 public:
  explicit CpuInventory(InventoryOptions options)
      : options_(std::move(options)), model_(ProcessorName(options_.proc)) {}

  v1::Device::Kind kind() const override { return v1::Device::KIND_CPU; }
  DeviceReading Read(const std::vector<HeldMemory>& held) override {
    std::int64_t promised = 0;
    std::int64_t resident = 0;
    for (const HeldMemory& memory : held) {
      promised += memory.budget_bytes;
      if (memory.pid != 0) resident += ResidentBytes(options_.proc, memory.pid);
    }
    return ReadBeside(promised, resident);
  }

 private:
  DeviceReading ReadBeside(std::int64_t promised, std::int64_t resident) const {
    DeviceReading reading;
    MemoryLimit memory = {.total_bytes = options_.memory_bytes, .used_bytes = 0};
    // A configured budget is this worker's own: nobody else's use is looked at.
    if (options_.memory_bytes == 0) {
      const std::optional<MemoryLimit> found = ReadMemory(options_);
      if (!found) reading.problem = NoMemory();
      memory = found.value_or(MemoryLimit{});
    }
    const std::int64_t foreign = std::max<std::int64_t>(memory.used_bytes - resident, 0);
    v1::Device& device = reading.devices.emplace_back();
    device.set_kind(kind());
    device.set_uuid("cpu");
    device.set_model(model_);
    device.set_total_bytes(memory.total_bytes);
    device.set_foreign_bytes(foreign);
    device.set_free_bytes(std::max<std::int64_t>(memory.total_bytes - foreign - promised, 0));
    return reading;
  }

  std::string NoMemory() const {
    return absl::StrCat((options_.proc / "meminfo").string(),
                        ": no MemTotal; set memory_bytes to this worker's memory");
  }

  const InventoryOptions options_;
  const std::string model_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Inventory>> NewCpuInventory(const InventoryOptions& options) {
  auto inventory = std::make_unique<CpuInventory>(options);
  const DeviceReading reading = inventory->Read({});
  if (!reading.problem.empty()) return absl::FailedPreconditionError(reading.problem);
  return inventory;
}

}  // namespace agoq
