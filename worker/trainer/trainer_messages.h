// What a trainer tells, as messages of trainer.proto.
#pragma once

#include "proto/agoq/v1/trainer.pb.h"
#include "worker/train/train_report.h"
#include "worker/trainer/daemon_link.h"

namespace agoq {

v1::TrainerStep StepMessage(const StepReport& step);
v1::TrainerEnd EndMessage(const TrainerEnding& ending, std::int64_t rank);

}  // namespace agoq
