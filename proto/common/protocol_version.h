// Versions of the protocol between workers and coordinator (agent_service.proto). A session speaks
// the highest version that both sides know.
#pragma once

#include <cstdint>

namespace agoq {

inline constexpr std::int32_t kProtocolMin = 1;
inline constexpr std::int32_t kProtocolMax = 1;

}  // namespace agoq
