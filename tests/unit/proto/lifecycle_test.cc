#include "proto/common/lifecycle.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agoq {
namespace {

// Runs `program` in a child; its exit code, or minus the signal that ended it.
template <typename Program>
int ExitOf(Program program) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(program());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Lifecycle, ReturnsTheSignalThatAsksForTheEnd) {
  for (const int number : {SIGTERM, SIGINT}) {
    EXPECT_EQ(ExitOf([number] {
                BlockTerminationSignals();
                ::kill(::getpid(), number);
                return WaitForTermination([] {});
              }),
              number);
  }
}

TEST(Lifecycle, ReloadsAndGoesOnWaiting) {
  EXPECT_EQ(ExitOf([] {
              BlockTerminationSignals();
              int reloads = 0;
              ::kill(::getpid(), SIGHUP);
              const int number = WaitForTermination([&] {
                ++reloads;
                ::kill(::getpid(), reloads < 2 ? SIGHUP : SIGTERM);
              });
              return number == SIGTERM ? reloads : 99;
            }),
            2);
}

TEST(Lifecycle, EndsAtOnceOnASecondSignal) {
  EXPECT_EQ(ExitOf([] {
              BlockTerminationSignals();
              ::kill(::getpid(), SIGTERM);
              WaitForTermination([] {});
              ::kill(::getpid(), SIGINT);
              return 0;
            }),
            128 + SIGINT);
}

TEST(Lifecycle, OutlivesAPeerThatStoppedReading) {
  EXPECT_EQ(ExitOf([] {
              BlockTerminationSignals();
              int files[2] = {};
              if (::pipe(files) != 0) return 1;
              ::close(files[0]);
              return ::write(files[1], "x", 1) < 0 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace agoq
