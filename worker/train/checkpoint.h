// The state of a training attempt on disk. Knows no model: names and tensors.
//
//   DIRECTORY/step-00000042/manifest.json   written last
//   DIRECTORY/step-00000042/*.safetensors
//   DIRECTORY/.tmp-step-*                   being written, or left by a process that died
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/train/safetensors.h"

namespace agoq {

struct CheckpointShard {
  std::string file;  // plain name, "model.safetensors"
  std::vector<NamedTensor> tensors;
};

struct CheckpointCounters {
  std::int64_t step = 0;  // steps done
  std::int64_t tokens = 0;
  std::int64_t skipped_steps = 0;  // those whose gradients were not finite
  double elapsed_seconds = 0;
};

// Where the data goes on.
struct DataPosition {
  std::uint64_t seed = 0;
  std::int64_t next_sample = 0;  // global sample index
};

struct CheckpointMesh {
  std::int64_t data = 1;
  std::int64_t pipeline = 1;
  std::int64_t tensor = 1;

  friend bool operator==(const CheckpointMesh&, const CheckpointMesh&) = default;
};

struct Checkpoint {
  std::vector<CheckpointShard> shards;
  CheckpointCounters counters;
  DataPosition data_position;
  CheckpointMesh mesh;
  std::int64_t generation = 0;
  // JSON text of the owners of these formats; empty: none. Kept by value, not by the letter.
  std::string config_json;    // the model's configuration
  std::string plan_json;      // bit plan
  std::string schedule_json;  // learning-rate schedule and optimizer options
};

struct CheckpointStore {
  std::string directory;
  std::int64_t keep = 0;  // newest usable checkpoints that stay; 0: all
};

// Writes DIRECTORY/step-<counters.step> and returns its path. One writer a directory. At any moment
// a kill leaves either the older checkpoints or these and the new one, each complete; a checkpoint
// of the same step is replaced in one exchange (on a file system without exchange, by two renames).
// Then older ones beyond `keep` and folders that a dead writer left are removed; those of later
// steps (damaged ones that a resume passed over) stay. Throws
// std::runtime_error (disk full, unwritable folder: nothing half written stays) or
// std::invalid_argument (content that cannot be written).
std::string WriteCheckpoint(const CheckpointStore& store, const Checkpoint& checkpoint);

struct LatestCheckpoint {
  std::optional<std::string> path;   // none: no usable checkpoint
  std::vector<std::string> skipped;  // newer ones that are not usable, each with the reason
};

// The newest complete checkpoint: its manifest parses and its shards have the size that it states
// (their content is verified by ReadCheckpoint). `path` is the directory or one checkpoint's own
// folder. An absent directory has none.
LatestCheckpoint FindLatestCheckpoint(const std::string& path);

// `path` is a checkpoint's own folder. Throws std::runtime_error that names file, expected and
// found value, and the remedy. ReadCheckpoint verifies each shard's SHA-256 before it uses a byte
// of it.
Checkpoint ReadCheckpoint(const std::string& path);
// As ReadCheckpoint, but shards stay empty lists: no tensor is read or verified.
Checkpoint ReadCheckpointManifest(const std::string& path);

}  // namespace agoq
