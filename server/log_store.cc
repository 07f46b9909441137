#include "server/log_store.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <fstream>
#include <system_error>

namespace agoq {
namespace {

constexpr std::int64_t kTailWindow = 1 << 20;  // bytes that are searched for the last lines
constexpr std::string_view kUuidCharacters = "0123456789abcdef-";

bool IsUuid(const std::string& text) {
  return text.size() == 36 && text.find_first_not_of(kUuidCharacters) == std::string::npos;
}

}  // namespace

std::filesystem::path LogStore::PathOf(const v1::RankId& id) const {
  return folder_ / id.job_id() / std::to_string(id.generation()) /
         absl::StrCat("rank", id.rank(), ".log");
}

std::int64_t LogStore::Size(const v1::RankId& id) const {
  std::error_code error;
  const auto size = std::filesystem::file_size(PathOf(id), error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

absl::StatusOr<std::int64_t> LogStore::Append(const v1::RankId& id, std::int64_t offset,
                                              std::string_view text) {
  // The id becomes a path.
  if (!IsUuid(id.job_id())) {
    return absl::InvalidArgumentError(absl::StrCat("log of job ", id.job_id(), ": is no job id"));
  }
  const absl::MutexLock lock(&mutex_);
  const std::int64_t size = Size(id);
  if (offset > size) {
    return absl::OutOfRangeError(absl::StrCat("log of job ", id.job_id(), ", rank ", id.rank(),
                                              ": has ", size, " bytes, the text begins at ", offset,
                                              "; send what lies between"));
  }
  const std::int64_t known = size - offset;
  const std::int64_t room = std::max<std::int64_t>(kLargestLog - size, 0);
  if (known >= static_cast<std::int64_t>(text.size())) return size;
  text.remove_prefix(static_cast<std::size_t>(known));
  const std::string_view kept = text.substr(0, static_cast<std::size_t>(room));
  std::error_code error;
  std::filesystem::create_directories(PathOf(id).parent_path(), error);
  std::ofstream file(PathOf(id), std::ios::app | std::ios::binary);
  file.write(kept.data(), static_cast<std::streamsize>(kept.size()));
  file.close();
  if (!file) return absl::ResourceExhaustedError(absl::StrCat(PathOf(id).string(), ": disk full?"));
  // Past the bound the rest counts as taken.
  return size + static_cast<std::int64_t>(text.size());
}

std::string LogStore::Read(const v1::RankId& id, std::int64_t offset, std::int64_t limit) const {
  const std::int64_t size = Size(id);
  if (offset >= size) return "";
  std::string text(static_cast<std::size_t>(std::min(limit, size - offset)), '\0');
  std::ifstream file(PathOf(id), std::ios::binary);
  file.seekg(offset);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::int64_t LogStore::TailOffset(const v1::RankId& id, std::int64_t lines) const {
  if (lines <= 0) return 0;
  const std::int64_t size = Size(id);
  const std::int64_t begin = std::max<std::int64_t>(size - kTailWindow, 0);
  const std::string window = Read(id, begin, kTailWindow);
  std::size_t at = window.size();
  for (std::int64_t line = 0; line <= lines; ++line) {
    if (at == 0) return begin;
    at = window.rfind('\n', at - 1);
    if (at == std::string::npos) return begin;
  }
  return begin + static_cast<std::int64_t>(at) + 1;
}

}  // namespace agoq
