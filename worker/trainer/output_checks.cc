#include "worker/trainer/output_checks.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "worker/trainer/failure.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const std::string& key, const fs::path& path, const std::string& cause) {
  throw UsageError(key + ": " + path.string() + ": cannot be written (" + cause +
                   "); name a folder that can be written");
}

// The folders of `path` that do not exist, the innermost first.
std::vector<fs::path> MissingFolders(fs::path path) {
  std::vector<fs::path> missing;
  std::error_code error;
  while (!path.empty() && !fs::exists(path, error)) {
    if (error && error != std::errc::not_a_directory) break;
    missing.push_back(path);
    path = path.parent_path();
  }
  return missing;
}

void WriteProbe(const std::string& key, const fs::path& folder) {
  std::string probe = (folder / ".agoq-probe-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0) Refuse(key, folder, std::strerror(errno));
  ::close(file);
  ::unlink(probe.c_str());
}

void CheckFolder(const std::string& key, const fs::path& folder) {
  const fs::path path = fs::absolute(folder / "").parent_path();
  const std::vector<fs::path> missing = MissingFolders(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) Refuse(key, path, error.message());
  WriteProbe(key, path);
  for (const fs::path& made : missing) fs::remove(made, error);
}

}  // namespace

void CheckOutputs(const std::string& checkpoints, const std::string& result) {
  if (!checkpoints.empty()) CheckFolder("checkpoint.uri", checkpoints);
  if (result.empty()) return;
  if (fs::is_directory(result)) {
    throw UsageError("--result: " + result + ": is a folder; name a file");
  }
  const fs::path folder = fs::absolute(result).parent_path();
  if (!fs::is_directory(folder)) {
    throw UsageError("--result: " + result + ": no folder " + folder.string() + "; make it first");
  }
  WriteProbe("--result", folder);
}

}  // namespace agoq
