// A file seen as memory, read only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace agoq {

// Move-only. The bytes stay valid while the object lives. A file that another process cuts short
// meanwhile ends this process (SIGBUS): files are replaced by rename, never shortened in place.
class MappedFile {
 public:
  // Throws std::runtime_error that names the path and the cause: absent, no regular file,
  // unreadable.
  explicit MappedFile(std::string path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace agoq
