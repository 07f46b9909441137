#include "worker/daemon/nvml_inventory.h"

#include <absl/base/thread_annotations.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <mutex>

#include "worker/daemon/nvml_library.h"

namespace agoq {
namespace {

constexpr char kRemedy[] = "; check the driver with nvidia-smi, then restart this worker";

bool IsHeld(pid_t pid, const std::vector<HeldMemory>& held) {
  return std::any_of(held.begin(), held.end(),
                     [pid](const HeldMemory& memory) { return memory.pid == pid; });
}

std::int64_t ForeignBytes(const GpuReading& gpu, const std::vector<HeldMemory>& held) {
  std::int64_t own = 0;
  for (const auto& [pid, bytes] : gpu.process_bytes) {
    if (IsHeld(pid, held)) own += bytes;
  }
  return std::max<std::int64_t>(gpu.total_bytes - gpu.free_bytes - own, 0);
}

class NvmlInventory : public Inventory {
 public:
  explicit NvmlInventory(std::unique_ptr<NvmlLibrary> library)
      : library_(std::move(library)), driver_(library_->DriverVersion()) {}

  v1::Device::Kind kind() const override { return v1::Device::KIND_CUDA; }
  DeviceReading Read(const std::vector<HeldMemory>& held) override;

 private:
  v1::Device DeviceOf(const GpuReading& gpu, std::int64_t index,
                      const std::vector<HeldMemory>& held) const;

  const std::unique_ptr<NvmlLibrary> library_;
  const std::string driver_;
  std::mutex mutex_;
  std::vector<v1::Device> last_ ABSL_GUARDED_BY(mutex_);  // what was known of each GPU
};

v1::Device NvmlInventory::DeviceOf(const GpuReading& gpu, std::int64_t index,
                                   const std::vector<HeldMemory>& held) const {
  std::int64_t promised = 0;
  for (const HeldMemory& memory : held) {
    if (memory.device == index) promised += memory.budget_bytes;
  }
  const std::int64_t foreign = ForeignBytes(gpu, held);
  v1::Device device;
  device.set_kind(kind());
  device.set_uuid(gpu.uuid);
  device.set_model(gpu.name);
  device.set_driver_version(driver_);
  device.set_total_bytes(gpu.total_bytes);
  device.set_foreign_bytes(foreign);
  // A rank's budget is taken from its start on, not only once its memory is in use.
  device.set_free_bytes(std::clamp<std::int64_t>(gpu.total_bytes - foreign - promised, 0,
                                                 std::max<std::int64_t>(gpu.free_bytes, 0)));
  return device;
}

DeviceReading NvmlInventory::Read(const std::vector<HeldMemory>& held) {
  DeviceReading reading;
  const std::vector<GpuReading> gpus = library_->Read(&reading.problem);
  const std::lock_guard lock(mutex_);
  last_.resize(std::max(last_.size(), gpus.size()));
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const bool is_known = i < gpus.size() && gpus[i].problem.empty();
    if (is_known) {
      last_[i] = DeviceOf(gpus[i], static_cast<std::int64_t>(i), held);
      continue;
    }
    last_[i].set_free_bytes(0);
    if (reading.problem.empty() && i < gpus.size()) reading.problem = gpus[i].problem;
  }
  reading.devices = last_;
  if (!reading.problem.empty()) reading.problem += kRemedy;
  return reading;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Inventory>> NewNvmlInventory(const std::string& library) {
  std::string problem;
  std::unique_ptr<NvmlLibrary> nvml = NvmlLibrary::Load(library, &problem);
  if (nvml == nullptr) return absl::NotFoundError(problem);
  const std::vector<GpuReading> gpus = nvml->Read(&problem);
  if (gpus.empty()) {
    return absl::NotFoundError(problem.empty() ? "NVML finds no GPU" : problem);
  }
  return std::make_unique<NvmlInventory>(std::move(nvml));
}

}  // namespace agoq
