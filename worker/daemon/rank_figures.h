// What a rank's task says in advance about its memory. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

struct RankFigures {
  // Bytes at the predicted peak; empty: the task has no valid plan.
  std::vector<v1::LabelBytes> planned;
  // Layers by how their saved activations are kept: "full", "recompute" or the bits; each of a
  // layer's eight sites counts an eighth.
  std::map<std::string, double> layers_by_bits;
};

RankFigures FiguresOf(const v1::TrainerTask& task);

}  // namespace agoq
