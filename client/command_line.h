// agoq's command line.
#pragma once

#include <string>
#include <vector>

#include "client/console.h"

namespace agoq {

// Reads the arguments (without the program's name), does what they say, and returns the exit code
// of exit_codes.h.
int RunCommandLine(const std::vector<std::string>& arguments, const Console& console);

}  // namespace agoq
