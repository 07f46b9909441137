// A rank that trains nothing, but says all that a trainer says.
#pragma once

#include <filesystem>

#include "proto/agoq/v1/trainer.pb.h"
#include "tests/support/fake_trainer/fake_behavior.h"

namespace agoq {

// The loss of a step is a function of the step alone, so that a resumed run ends as an unbroken
// one.
double FakeLoss(std::int64_t step);

// One attempt, to its end; returns the exit code. Ranks of a larger world meet through the daemon's
// keys first; after that they know nothing of each other, and rank 0 alone writes checkpoints.
int RunFakeAttempt(const std::filesystem::path& folder, const v1::TrainerTask& task,
                   const FakeBehavior& behavior);

}  // namespace agoq
