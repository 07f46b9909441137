// SIGTERM and SIGINT as stop requests of a rank under a daemon.
#pragma once

#include <thread>

#include "worker/trainer/daemon_link.h"

namespace agoq {

// Installs the handlers of stop_signals.h. While the thread lives, a signal asks as the daemon
// does. `link` outlives it.
std::jthread ForwardStopSignals(DaemonLink& link);

}  // namespace agoq
