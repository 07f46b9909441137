#include "worker/daemon/inventory.h"

#include <absl/strings/str_cat.h>

#include "worker/daemon/cpu_inventory.h"
#include "worker/daemon/nvml_inventory.h"

namespace agoq {

absl::StatusOr<std::unique_ptr<Inventory>> NewInventory(const InventoryOptions& options) {
  if (options.device == "cpu") return NewCpuInventory(options);
  if (options.device != "cuda" && options.device != "auto") {
    return absl::InvalidArgumentError(
        absl::StrCat("device: '", options.device, "' is no device; it is one of auto, cuda, cpu"));
  }
  absl::StatusOr<std::unique_ptr<Inventory>> cuda = NewNvmlInventory(options.nvml);
  if (cuda.ok()) return cuda;
  if (options.device == "auto") return NewCpuInventory(options);
  return absl::FailedPreconditionError(absl::StrCat("device: cuda was asked for, but ",
                                                    cuda.status().message(),
                                                    "; install the NVIDIA driver or set "
                                                    "device to cpu"));
}

}  // namespace agoq
