#include "worker/daemon/log_tail.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace agoq {
namespace {

// Bytes of the character that starts with this one; 0: none does.
std::size_t LengthFromFirstByte(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  if (byte >= 0xf0 && byte < 0xf5) return 4;
  return 0;
}

// Overlong forms, surrogates and what is past U+10FFFF show in the second byte.
bool IsSecondByte(unsigned char first, unsigned char second) {
  if (first == 0xe0) return second >= 0xa0 && second < 0xc0;
  if (first == 0xed) return second >= 0x80 && second < 0xa0;
  if (first == 0xf0) return second >= 0x90 && second < 0xc0;
  if (first == 0xf4) return second >= 0x80 && second < 0x90;
  return second >= 0x80 && second < 0xc0;
}

// Bytes of the valid character at `at`; 0: there is none.
std::size_t CharacterLength(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const std::size_t length = LengthFromFirstByte(byte(0));
  if (length == 0 || at + length > text.size()) return 0;
  if (length > 1 && !IsSecondByte(byte(0), byte(1))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) >= 0xc0) return 0;
  }
  return length;
}

}  // namespace

std::string ValidUtf8(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = CharacterLength(text, at);
    if (length == 0) text[at] = '?';
    at += std::max<std::size_t>(length, 1);
  }
  return text;
}

std::string ReadLogTail(const std::filesystem::path& log, std::size_t most_bytes) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(log, error);
  std::ifstream file(log, std::ios::binary);
  if (error || !file) return "";
  const bool is_cut = size > most_bytes;
  if (is_cut) file.seekg(static_cast<std::streamoff>(size - most_bytes));
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.size() > most_bytes) text.resize(most_bytes);  // it grew meanwhile
  const std::size_t end_of_part = is_cut ? text.find('\n') : std::string::npos;
  if (end_of_part != std::string::npos) text.erase(0, end_of_part + 1);
  return ValidUtf8(std::move(text));
}

}  // namespace agoq
