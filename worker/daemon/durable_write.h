// Small files that are there whole after a crash, or not at all.
#pragma once

#include <absl/status/status.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace agoq {

// Writes PATH.tmp, syncs it, renames it, syncs the folder. Errors name path and cause.
absl::Status WriteDurably(const std::filesystem::path& path, std::string_view bytes);

// Nothing: there is no such file, or it cannot be read.
std::optional<std::string> ReadWholeFile(const std::filesystem::path& path);

}  // namespace agoq
