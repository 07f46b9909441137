// manifest.json of a checkpoint as values. No file access.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/train/checkpoint.h"

namespace agoq {

inline constexpr std::string_view kManifestName = "manifest.json";

struct ManifestShard {
  std::string file;
  std::int64_t num_bytes = 0;
  std::string sha256;
  std::vector<SafetensorsEntry> tensors;
};

struct CheckpointManifest {
  Checkpoint checkpoint;  // shards without tensors
  std::vector<ManifestShard> shards;
};

std::string EncodeManifest(const CheckpointManifest& manifest);
// Throws std::runtime_error; `path` is for the message.
CheckpointManifest DecodeManifest(std::string_view text, const std::string& path);

}  // namespace agoq
