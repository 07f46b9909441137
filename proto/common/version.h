// Which agoq this is.
#pragma once

namespace agoq {

const char* Version();   // like 0.1.0
const char* Revision();  // of the source; unknown outside of a checkout

}  // namespace agoq
