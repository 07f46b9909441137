// What happens to the store when a gradient arrives.
#pragma once

#include <cstdint>

namespace agoq {

enum class GradientMode : std::uint8_t {
  kWrite,  // the old content is not read
  kAdd,
};

}  // namespace agoq
