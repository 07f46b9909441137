// The settings of a worker, checked and completed.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <string>

#include "proto/agoq/v1/config.pb.h"

namespace agoq {

// Fills `name` and `trainer` where they are empty. INVALID_ARGUMENT names every setting that is
// wrong, its value and the remedy.
absl::StatusOr<v1::WorkerConfig> CompleteSettings(v1::WorkerConfig config);

}  // namespace agoq
