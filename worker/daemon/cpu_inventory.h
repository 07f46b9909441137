// The memory of a machine, or a part of it, as one device.
#pragma once

#include "worker/daemon/inventory.h"

namespace agoq {

// Where the total comes from: the setting, else the smallest limit of this process's cgroups (v2
// or v1) if that is below the machine's memory, else the machine's memory.
absl::StatusOr<std::unique_ptr<Inventory>> NewCpuInventory(const InventoryOptions& options);

}  // namespace agoq
