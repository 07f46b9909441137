// SIGINT and SIGTERM as a request to stop.
#pragma once

#include <atomic>

namespace agoq {

// Installs the handlers, for the rest of the process. The first signal sets the flag that is
// returned; a second one ends the process at once with 128 plus its number.
const std::atomic<bool>& WatchStopSignals();

// The signal that came first; 0: none so far.
int StopSignal();

}  // namespace agoq
