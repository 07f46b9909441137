// agoq-trainer's command line.
#pragma once

namespace agoq {

// Reads it, does what it says, and returns the exit code of failure.h. Tells errors on standard
// error.
int RunCommandLine(int argc, char** argv);

}  // namespace agoq
