// First weights.
#pragma once

#include <cstdint>

#include "worker/model/parameters.h"

namespace agoq {

// Matrices from a normal distribution of deviation `init_std`, norm weights 1. Each tensor is a
// pure function of (seed, its index), drawn in the control type and rounded.
void InitializeParameters(const Parameters& parameters, double init_std, std::uint64_t seed);

}  // namespace agoq
