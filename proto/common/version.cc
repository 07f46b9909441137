#include "proto/common/version.h"

namespace agoq {

const char* Version() { return AGOQ_VERSION; }
const char* Revision() { return AGOQ_REVISION; }

}  // namespace agoq
