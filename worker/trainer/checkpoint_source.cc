#include "worker/trainer/checkpoint_source.h"

#include "worker/train/checkpoint.h"
#include "worker/trainer/failure.h"

namespace agoq {

CheckpointSource FindCheckpoint(const std::string& path) {
  LatestCheckpoint latest = FindLatestCheckpoint(path);
  if (latest.path) {
    return {*latest.path, ReadCheckpointManifest(*latest.path).config_json, latest.skipped};
  }
  std::string text =
      path + ": holds no usable checkpoint; name the folder that checkpoint.uri of the job names";
  for (const std::string& reason : latest.skipped) text += "\n" + reason;
  throw UsageError(text);
}

}  // namespace agoq
