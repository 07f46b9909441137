// The messages that lie in an attempt's folder.
#pragma once

#include <filesystem>

#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

// FOLDER/task.pb. Throws UsageError.
v1::TrainerTask ReadTaskFile(const std::filesystem::path& folder);

// FOLDER/end.pb: whole and on disk. Throws std::runtime_error.
void WriteEndFile(const std::filesystem::path& folder, const v1::TrainerEnd& end);

}  // namespace agoq
