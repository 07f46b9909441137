#include "worker/train/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "worker/data/durable_file.h"
#include "worker/data/mapped_file.h"
#include "worker/train/checkpoint_manifest.h"
#include "worker/train/sha256.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kTemporaryPrefix = ".tmp-";

std::string StepName(std::int64_t step) {
  std::string digits = std::to_string(step);
  digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
  return std::string(kStepPrefix) + digits;
}

// The step of a folder's name; -1 if it is none.
std::int64_t StepOf(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return -1;
  const char* first = name.data() + kStepPrefix.size();
  const char* last = name.data() + name.size();
  std::int64_t step = -1;
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc() && end == last && step >= 0 ? step : -1;
}

struct Found {
  std::int64_t step = 0;
  fs::path path;
};

// Newest first. An absent directory has none; one that cannot be listed may have some.
std::vector<Found> ListCheckpoints(const fs::path& directory) {
  std::vector<Found> found;
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    throw std::runtime_error(directory.string() + ": cannot be listed: " + error.message() +
                             "; choose a checkpoint folder that can be read");
  }
  for (const fs::directory_entry& entry : entries) {
    const std::int64_t step = StepOf(entry.path().filename().string());
    if (step >= 0 && entry.is_directory()) found.push_back({step, entry.path()});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.step > b.step; });
  return found;
}

[[noreturn]] void Fail(const fs::path& path, const std::string& cause) {
  throw std::runtime_error(path.string() + ": " + cause +
                           "; choose a checkpoint folder that can be written");
}

void MakeFolder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) Fail(path, "cannot be created: " + error.message());
}

// A folder that goes unless it was put into place.
class TemporaryStep {
 public:
  explicit TemporaryStep(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);
    MakeFolder(path_);
  }
  ~TemporaryStep() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryStep(const TemporaryStep&) = delete;
  TemporaryStep& operator=(const TemporaryStep&) = delete;

  const fs::path& path() const { return path_; }

  // After it path() holds what was at `target` before, if anything was.
  void MoveTo(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) Fail(target, std::strerror(errno));
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
      return;
    // A file system without exchange.
    const fs::path old = path_.string() + "-old";
    fs::remove_all(old);
    fs::rename(target, old);
    fs::rename(path_, target);
    fs::remove_all(old);
  }

 private:
  fs::path path_;
};

CheckpointManifest WriteShards(const fs::path& folder, const Checkpoint& checkpoint) {
  CheckpointManifest manifest = {.checkpoint = checkpoint};
  for (const CheckpointShard& shard : checkpoint.shards) {
    if (shard.file.empty() || shard.file.find('/') != std::string::npos) {
      throw std::invalid_argument("checkpoint: shard file \"" + shard.file +
                                  "\" is not a plain name");
    }
    const SafetensorsSummary summary =
        WriteSafetensors((folder / shard.file).string(), shard.tensors);
    manifest.shards.push_back({.file = shard.file,
                               .num_bytes = summary.num_bytes,
                               .sha256 = summary.sha256,
                               .tensors = summary.entries});
  }
  return manifest;
}

void WriteText(const fs::path& path, const std::string& text) {
  DurableFile file(path.string());
  file.Append(std::as_bytes(std::span(text)));
  file.Commit();
}

void RemoveDeadWriters(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with(kTemporaryPrefix)) {
      fs::remove_all(entry.path());
    }
  }
}

CheckpointManifest ReadManifest(const fs::path& folder) {
  const MappedFile file((folder / kManifestName).string());
  return DecodeManifest({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                        file.path());
}

std::string SizeProblem(const fs::path& folder, const ManifestShard& shard) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(folder / shard.file, error);
  const std::string name = (folder / shard.file).string();
  if (error) return name + ": " + error.message();
  if (size == static_cast<std::uintmax_t>(shard.num_bytes)) return "";
  return name + ": has " + std::to_string(size) + " bytes, the manifest says " +
         std::to_string(shard.num_bytes);
}

// Why a checkpoint cannot be used; empty: it can.
std::string Problem(const fs::path& folder) {
  try {
    for (const ManifestShard& shard : ReadManifest(folder).shards) {
      const std::string problem = SizeProblem(folder, shard);
      if (!problem.empty()) return problem;
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// Of those before `written`. One that cannot be used keeps nobody's place: else a save could remove
// the last good one.
void RemoveOld(const CheckpointStore& store, std::int64_t written) {
  if (store.keep <= 0) return;
  std::int64_t left = store.keep - 1;
  for (const Found& candidate : ListCheckpoints(store.directory)) {
    if (candidate.step >= written) continue;
    if (left == 0) {
      fs::remove_all(candidate.path);
    } else if (Problem(candidate.path).empty()) {
      --left;
    }
  }
}

std::vector<NamedTensor> ReadShard(const fs::path& folder, const ManifestShard& shard) {
  const SafetensorsFile file((folder / shard.file).string());
  const std::string sha256 = Sha256Hex(file.bytes());
  if (sha256 != shard.sha256) {
    throw std::runtime_error(file.path() + ": SHA-256 is " + sha256 + ", the manifest says " +
                             shard.sha256 +
                             "; the shard is damaged: remove this checkpoint's folder to go on "
                             "from the one before, or restore it");
  }
  std::vector<NamedTensor> tensors;
  for (const SafetensorsEntry& entry : file.entries()) {
    tensors.push_back({entry.name, file.Load(entry)});
  }
  return tensors;
}

}  // namespace

std::string WriteCheckpoint(const CheckpointStore& store, const Checkpoint& checkpoint) {
  const fs::path directory = store.directory;
  MakeFolder(directory);
  const std::string name = StepName(checkpoint.counters.step);
  RemoveDeadWriters(directory);
  {
    TemporaryStep temporary(directory / (std::string(kTemporaryPrefix) + name));
    const CheckpointManifest manifest = WriteShards(temporary.path(), checkpoint);
    if (!checkpoint.config_json.empty()) {
      WriteText(temporary.path() / "config.json", checkpoint.config_json);
    }
    WriteText(temporary.path() / kManifestName, EncodeManifest(manifest));
    SyncFolder(temporary.path().string());
    temporary.MoveTo(directory / name);
  }
  SyncFolder(directory.string());
  RemoveOld(store, checkpoint.counters.step);
  return (directory / name).string();
}

LatestCheckpoint FindLatestCheckpoint(const std::string& path) {
  LatestCheckpoint latest;
  std::vector<Found> found = ListCheckpoints(path);
  if (fs::exists(fs::path(path) / kManifestName)) found.insert(found.begin(), {0, path});
  for (const Found& candidate : found) {
    const std::string problem = Problem(candidate.path);
    if (problem.empty()) {
      latest.path = candidate.path.string();
      return latest;
    }
    latest.skipped.push_back(problem);
  }
  return latest;
}

Checkpoint ReadCheckpoint(const std::string& path) {
  CheckpointManifest manifest = ReadManifest(path);
  for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
    const std::string problem = SizeProblem(path, manifest.shards[i]);
    if (!problem.empty()) {
      throw std::runtime_error(problem + "; the shard is damaged: use another checkpoint");
    }
    manifest.checkpoint.shards[i].tensors = ReadShard(path, manifest.shards[i]);
  }
  return std::move(manifest.checkpoint);
}

Checkpoint ReadCheckpointManifest(const std::string& path) {
  return std::move(ReadManifest(path).checkpoint);
}

}  // namespace agoq
