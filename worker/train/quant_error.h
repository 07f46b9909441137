// What the saved copies lost, by site.
#pragma once

#include <vector>

#include "worker/model/saved.h"
#include "worker/train/train_report.h"

namespace agoq {

// One entry for each site that is packed in some layer, in the order of the sites.
std::vector<SiteError> SiteErrors(const std::vector<LayerErrorSums>& layers);

}  // namespace agoq
