// A checked job as the engine's options. Pure.
#pragma once

#include "worker/train/train_options.h"

namespace agoq {

namespace v1 {
class JobSpec;
}

// `job` has passed ReadJobFile: complete, checked, paths resolved. `plan` has all its ranks.
TrainOptions OptionsOf(const v1::JobSpec& job, const BitPlan& plan);

}  // namespace agoq
