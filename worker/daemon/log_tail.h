// The end of a trainer's log.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace agoq {

inline constexpr std::size_t kLogTailBytes = 16 << 10;

// Whole lines of the last `most_bytes`, as valid UTF-8. Empty: there is no log.
std::string ReadLogTail(const std::filesystem::path& log, std::size_t most_bytes = kLogTailBytes);

// The same text with each byte that is not UTF-8 replaced by '?'.
std::string ValidUtf8(std::string text);

}  // namespace agoq
