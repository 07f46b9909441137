// Why a layer is kept as it is, in words. Pure.
#pragma once

#include <vector>

#include "worker/plan/error_model.h"

namespace agoq {

// Sets each layer's reason: which sites got how many bits, and what share of the plan's squared
// error the layer brings.
void GiveReasons(const ErrorTable& errors, std::vector<LayerPlan>* layers);

}  // namespace agoq
