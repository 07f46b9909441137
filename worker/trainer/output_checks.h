// Whether what a run will write can be written, before it runs for hours.
#pragma once

#include <string>

namespace agoq {

// Throws UsageError unless files can be made in the folder `checkpoints` (made if absent) and at
// the path `result`. Empty ones are not looked at. Leaves nothing behind.
void CheckOutputs(const std::string& checkpoints, const std::string& result);

}  // namespace agoq
