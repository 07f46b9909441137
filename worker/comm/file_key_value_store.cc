#include "worker/comm/file_key_value_store.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "run";
constexpr std::string_view kKeyPrefix = "key.";
constexpr auto kPollInterval = std::chrono::milliseconds(5);

// "gloo/0" -> "key.gloo%2F0": one key, one file name.
std::string FileNameOf(const std::string& key) {
  std::string name(kKeyPrefix);
  for (unsigned char c : key) {
    if (std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-') {
      name += static_cast<char>(c);
      continue;
    }
    char escaped[4];
    std::snprintf(escaped, sizeof(escaped), "%%%02X", static_cast<unsigned>(c));
    name += escaped;
  }
  return name;
}

std::optional<std::string> ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::runtime_error DirectoryError(const fs::path& directory, const std::string& problem) {
  return std::runtime_error("rendezvous directory " + directory.string() + ": " + problem);
}

// Writes `value` to a file of a name of its own in `directory`.
fs::path WriteTemporary(const fs::path& directory, const std::string& value) {
  std::string path = (directory / ".new.XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  const bool written = descriptor >= 0 && ::write(descriptor, value.data(), value.size()) ==
                                              static_cast<ssize_t>(value.size());
  const std::string cause = std::strerror(errno);
  if (descriptor >= 0) ::close(descriptor);
  if (!written) {
    if (descriptor >= 0) ::unlink(path.c_str());
    throw DirectoryError(directory,
                         "cannot write there (" + cause + "); name a writable directory");
  }
  return path;
}

}  // namespace

FileKeyValueStore::FileKeyValueStore(fs::path directory, const std::string& run_id)
    : directory_(std::move(directory)) {
  if (run_id.empty()) {
    throw std::invalid_argument("rendezvous directory " + directory_.string() +
                                ": the run id is empty; name the run");
  }
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    throw DirectoryError(directory_,
                         "cannot be created (" + error.message() + "); name a writable directory");
  }
  ClaimFor(run_id);
}

void FileKeyValueStore::ClaimFor(const std::string& run_id) {
  // Ranks of one run race here. Keys come after the marker, so keys without a marker are old ones;
  // the marker is looked for again since it may have come while the directory was listed.
  const fs::path marker = directory_ / kMarker;
  if (!fs::exists(marker) && HoldsKeys() && !fs::exists(marker)) {
    throw DirectoryError(directory_, "holds keys of an unknown run; use a fresh directory");
  }
  if (Publish(kMarker, run_id)) return;
  const std::optional<std::string> owner = ReadFile(marker);
  if (owner == run_id) return;
  throw DirectoryError(directory_, "holds keys of run '" + owner.value_or("?") + "', not of '" +
                                       run_id + "'; use a fresh directory for each run");
}

bool FileKeyValueStore::HoldsKeys() const {
  return std::any_of(fs::directory_iterator(directory_), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       return entry.path().filename().string().starts_with(kKeyPrefix);
                     });
}

bool FileKeyValueStore::Publish(const std::string& name, const std::string& value) const {
  const fs::path temporary = WriteTemporary(directory_, value);
  // A link, not a rename: it fails if the name exists.
  const int result = ::link(temporary.c_str(), (directory_ / name).c_str());
  const int cause = errno;
  ::unlink(temporary.c_str());
  if (result == 0) return true;
  if (cause == EEXIST) return false;
  throw DirectoryError(directory_, std::string("cannot publish ") + name + " (" +
                                       std::strerror(cause) + "); name a writable directory");
}

void FileKeyValueStore::Set(const std::string& key, const std::string& value) {
  if (Publish(FileNameOf(key), value)) return;
  throw DirectoryError(directory_, "key '" + key +
                                       "' is set already: two ranks have the same number, or the "
                                       "directory was used before; use a fresh directory");
}

std::string FileKeyValueStore::Wait(const std::string& key,
                                    std::chrono::steady_clock::time_point deadline) {
  const fs::path path = directory_ / FileNameOf(key);
  while (true) {
    std::optional<std::string> value = ReadFile(path);
    if (value) return *std::move(value);
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      throw DirectoryError(
          directory_,
          "key '" + key + "' did not come in time; see whether the rank that sets it runs");
    }
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kPollInterval));
  }
}

}  // namespace agoq
