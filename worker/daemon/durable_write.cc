#include "worker/daemon/durable_write.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "worker/daemon/file_handle.h"

namespace agoq {
namespace {

absl::Status Failed(const std::filesystem::path& path) {
  return absl::UnavailableError(absl::StrCat(path.string(), ": cannot be written (",
                                             std::strerror(errno),
                                             "); check the disk of the state directory"));
}

bool WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

absl::Status WriteDurably(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  {
    const FileHandle file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.is_open() || !WriteAll(file.get(), bytes) || ::fsync(file.get()) != 0) {
      return Failed(path);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return Failed(path);
  const FileHandle folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::fsync(folder.get()) != 0) return Failed(path);
  return absl::OkStatus();
}

std::optional<std::string> ReadWholeFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace agoq
