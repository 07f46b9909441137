// A file that appears under its name whole and on disk, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace agoq {

// Writes PATH.tmp; Commit() syncs it and renames it to PATH. Without Commit() the destructor
// removes PATH.tmp. One writer a path. Errors are std::runtime_error with path, cause and remedy; a
// full disk is one of them.
class DurableFile {
 public:
  explicit DurableFile(std::string path);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  const std::string& path() const { return path_; }
  std::int64_t num_bytes() const { return num_bytes_; }

  void Append(std::span<const std::byte> bytes);
  // Flushes and syncs; after it only Commit() may follow. Lets several files be made safe before
  // the first of them gets its name.
  void Finish();
  // Finishes if that is still to do, then renames. The folder itself is not synced: see SyncFolder.
  void Commit();

 private:
  void WriteOut(std::span<const std::byte> bytes);

  std::string path_;
  std::string temporary_path_;
  std::vector<std::byte> buffer_;
  std::int64_t num_bytes_ = 0;
  int file_ = -1;
  bool committed_ = false;
};

// Makes the names in a folder durable. Throws std::runtime_error.
void SyncFolder(const std::string& folder);

}  // namespace agoq
