#include "worker/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace agoq {
namespace {

[[noreturn]] void Fail(const std::string& path, const std::string& cause) {
  throw std::runtime_error(path + ": cannot be read: " + cause);
}

// A descriptor that closes itself.
struct Descriptor {
  explicit Descriptor(const std::string& path) : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (file >= 0) ::close(file);
  }
  int file;
};

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const Descriptor descriptor(path_);
  if (descriptor.file < 0) Fail(path_, std::strerror(errno));
  struct stat status = {};
  if (::fstat(descriptor.file, &status) != 0) Fail(path_, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) Fail(path_, "not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.file, 0);
  if (memory == MAP_FAILED) Fail(path_, std::strerror(errno));
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace agoq
