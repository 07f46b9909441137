// What kind of failure an exception of a run is.
#pragma once

#include <cstdint>
#include <exception>

namespace agoq {

enum class FailureKind : std::uint8_t {
  kUser,         // files or options: another run would end the same way
  kOutOfMemory,  // past the rank's budget
  kCollective,   // a peer is lost or did not answer
  kOther,
};

// `has_begun`: a step was made; before that, what fails are options and files.
FailureKind KindOf(const std::exception& error, bool has_begun);

}  // namespace agoq
