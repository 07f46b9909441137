// Bytes of this process in physical memory, as the operating system counts them.
#pragma once

#include <cstdint>

namespace agoq {

// Zero where the system does not tell.
std::int64_t ResidentBytes();
// The largest value so far.
std::int64_t PeakResidentBytes();

}  // namespace agoq
