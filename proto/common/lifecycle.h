// SIGTERM, SIGINT and SIGHUP of a daemon, as calls on one thread.
#pragma once

#include <functional>

namespace agoq {

// Call first in main, before any thread starts: blocks the signals for all threads, and ignores
// SIGPIPE.
void BlockTerminationSignals();

// Waits for signals on the calling thread. SIGHUP calls `reload`. The first SIGTERM or SIGINT
// returns its number; from then on a second one ends the process at once with 128 plus its number.
int WaitForTermination(const std::function<void()>& reload);

}  // namespace agoq
