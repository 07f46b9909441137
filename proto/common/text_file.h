// Small text files that users write.
#pragma once

#include <filesystem>
#include <string>

namespace agoq {

inline constexpr std::size_t kLargestTextFile = 64 << 20;  // bytes

struct TextFile {
  std::string contents;
  std::string problem;  // why it could not be read, with the remedy; empty: it was
};

TextFile ReadTextFile(const std::filesystem::path& path);

}  // namespace agoq
