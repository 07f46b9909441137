#include "worker/data/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace agoq {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

[[noreturn]] void Fail(const std::string& path, const char* what, int error) {
  std::string remedy = "; choose a folder that can be written";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) remedy = "; make room and try again";
  if (error == EISDIR) remedy = "; remove that folder or choose another name";
  throw std::runtime_error(path + ": " + what + ": " + std::strerror(error) + remedy);
}

}  // namespace

DurableFile::DurableFile(std::string path)
    : path_(std::move(path)), temporary_path_(path_ + ".tmp") {
  // What the rename would find, before work is done.
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    Fail(path_, "cannot be replaced", EISDIR);
  }
  file_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) Fail(path_, "cannot be created", errno);
  buffer_.reserve(kBufferBytes);
}

DurableFile::~DurableFile() {
  if (file_ >= 0) ::close(file_);
  if (!committed_) ::unlink(temporary_path_.c_str());
}

void DurableFile::Append(std::span<const std::byte> bytes) {
  num_bytes_ += static_cast<std::int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    WriteOut(buffer_);
    buffer_.clear();
  }
  if (bytes.size() > kBufferBytes) {
    WriteOut(bytes);
    return;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void DurableFile::WriteOut(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(path_, "cannot be written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void DurableFile::Finish() {
  WriteOut(buffer_);
  buffer_.clear();
  if (::fsync(file_) != 0) Fail(path_, "cannot be synced", errno);
  // Some file systems tell of a full disk here only.
  if (::close(std::exchange(file_, -1)) != 0) Fail(path_, "cannot be closed", errno);
}

void DurableFile::Commit() {
  if (file_ >= 0) Finish();
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    Fail(path_, "cannot be renamed into place", errno);
  }
  committed_ = true;
}

void SyncFolder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) Fail(folder, "cannot be opened", errno);
  const int result = ::fsync(file);
  const int error = errno;
  ::close(file);
  if (result != 0) Fail(folder, "cannot be synced", error);
}

}  // namespace agoq
