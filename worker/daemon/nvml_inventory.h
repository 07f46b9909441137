// NVIDIA GPUs through the driver's management library, which is loaded at run time.
#pragma once

#include "worker/daemon/inventory.h"

namespace agoq {

// NOT_FOUND: there is no such library, or it finds no GPU. A GPU that is lost later is a problem in
// the readings: its free bytes are then 0.
absl::StatusOr<std::unique_ptr<Inventory>> NewNvmlInventory(const std::string& library);

}  // namespace agoq
