// Which checkpoint a path means, and the model in it.
#pragma once

#include <string>
#include <vector>

#include "worker/plan/model_shape.h"

namespace agoq {

struct CheckpointSource {
  std::string path;                  // one checkpoint's own folder
  std::string config_json;           // of its model
  std::vector<std::string> skipped;  // newer ones that are not usable, with the reason
};

// `path` is a checkpoint's folder, or one that holds several: then the newest usable one. Throws
// UsageError when there is none.
CheckpointSource FindCheckpoint(const std::string& path);

// The model of a config.json; `file` names it in messages. Throws UsageError.
ModelShape ShapeOfConfig(const std::string& config_json, const std::string& file);

}  // namespace agoq
