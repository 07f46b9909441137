#include "proto/common/model_config.h"
#include "proto/common/plan_codec.h"
#include "worker/trainer/checkpoint_source.h"
#include "worker/trainer/failure.h"

namespace agoq {

ModelShape ShapeOfConfig(const std::string& config_json, const std::string& file) {
  const ModelConfigReading reading = ReadModelConfig(config_json, file);
  std::string problems;
  for (const SpecError& error : reading.errors) {
    problems.append(problems.empty() ? "" : "\n").append(ToText(error));
  }
  if (!problems.empty()) throw UsageError(problems);
  return ShapeFromSpec(reading.model);
}

}  // namespace agoq
