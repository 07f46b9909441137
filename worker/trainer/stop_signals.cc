#include "worker/trainer/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include "worker/trainer/failure.h"

namespace agoq {
namespace {

// A handler reaches nothing but globals.
std::atomic<bool> stop_requested{false};
std::atomic<int> first_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void OnSignal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) ::_exit(kExitSignal + number);
  stop_requested.store(true);
}

}  // namespace

const std::atomic<bool>& WatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return stop_requested;
}

int StopSignal() { return first_signal.load(); }

}  // namespace agoq
