#include "worker/daemon/state_lock.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "worker/daemon/durable_write.h"

namespace agoq {
namespace {

absl::Status NotWritable(const std::filesystem::path& folder, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("state_directory: ", folder.string(), " cannot be written (", why,
                   "); make it writable for this user, or name another"));
}

}  // namespace

absl::StatusOr<StateLock> StateLock::Take(const std::filesystem::path& state_directory) {
  std::error_code error;
  std::filesystem::create_directories(state_directory, error);
  if (error) return NotWritable(state_directory, error.message());
  const std::filesystem::path path = state_directory / "lock";
  FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) return NotWritable(state_directory, std::strerror(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const std::string owner(absl::StripAsciiWhitespace(ReadWholeFile(path).value_or("unknown")));
    return absl::InvalidArgumentError(
        absl::StrCat("state_directory: ", state_directory.string(),
                     " is in use by another agoq-worker (process ", owner,
                     "); give each worker its own folder, or stop the other one"));
  }
  const std::string pid = absl::StrCat(::getpid(), "\n");
  const bool is_written =
      ::ftruncate(file.get(), 0) == 0 &&
      ::pwrite(file.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!is_written) return NotWritable(state_directory, std::strerror(errno));
  return StateLock(std::move(file));
}

}  // namespace agoq
