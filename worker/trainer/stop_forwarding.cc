#include "worker/trainer/stop_forwarding.h"

#include <pthread.h>

#include <atomic>
#include <chrono>

#include "worker/trainer/stop_signals.h"

namespace agoq {

std::jthread ForwardStopSignals(DaemonLink& link) {
  const std::atomic<bool>& is_signalled = WatchStopSignals();
  return std::jthread([&link, &is_signalled](const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "stop-signals");
    constexpr std::chrono::milliseconds kPatience{20};  // a handler can wake nobody
    while (!stop.stop_requested() && !is_signalled) std::this_thread::sleep_for(kPatience);
    if (is_signalled) link.RequestStop();
  });
}

}  // namespace agoq
