// How agoq-trainer ends: 0 done, 1 the run failed, 2 usage or files, 130 and 143 stopped by SIGINT
// and SIGTERM.
#pragma once

#include <stdexcept>
#include <string>

namespace agoq {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitSignal = 128;  // plus the signal's number

// What a user asked for cannot be done; the message may have several lines, one a problem.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace agoq
