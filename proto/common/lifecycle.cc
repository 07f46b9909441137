#include "proto/common/lifecycle.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace agoq {
namespace {

constexpr int kExitSignal = 128;  // plus the signal's number

sigset_t Set(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

void EndAtOnce(int number) { ::_exit(kExitSignal + number); }

}  // namespace

void BlockTerminationSignals() {
  const sigset_t signals = Set({SIGTERM, SIGINT, SIGHUP});
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int WaitForTermination(const std::function<void()>& reload) {
  const sigset_t signals = Set({SIGTERM, SIGINT, SIGHUP});
  int number = 0;
  do {
    if (::sigwait(&signals, &number) == 0 && number == SIGHUP) reload();
  } while (number != SIGTERM && number != SIGINT);
  // A second one does not wait for what the first one began.
  ::signal(SIGTERM, EndAtOnce);
  ::signal(SIGINT, EndAtOnce);
  const sigset_t endings = Set({SIGTERM, SIGINT});
  ::pthread_sigmask(SIG_UNBLOCK, &endings, nullptr);
  return number;
}

}  // namespace agoq
