// Folders that stand for checkpoints: FOLDER/step-00000042 with a file `state` that holds the step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace agoq {

// Appears whole; returns its path. One that is there already stays. All are kept.
std::string WriteFakeCheckpoint(const std::filesystem::path& folder, std::int64_t step);

struct FakeCheckpoint {
  std::string path;  // empty: there is none
  std::int64_t step = 0;
};
FakeCheckpoint NewestFakeCheckpoint(const std::filesystem::path& folder);

}  // namespace agoq
