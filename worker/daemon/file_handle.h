// An open file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace agoq {

class FileHandle {
 public:
  explicit FileHandle(int file = -1) : file_(file) {}
  ~FileHandle() {
    if (is_open()) ::close(file_);
  }
  FileHandle(FileHandle&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  int get() const { return file_; }
  bool is_open() const { return file_ >= 0; }

 private:
  int file_;
};

// A short name of an open file or folder, valid in this process while it is open.
inline std::string PathOfOpenFile(int file) { return "/proc/self/fd/" + std::to_string(file); }

}  // namespace agoq
