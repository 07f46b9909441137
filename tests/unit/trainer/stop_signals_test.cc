#include "worker/trainer/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace agoq {
namespace {

// Handlers stay for the rest of a process: each test has its own.
TEST(StopSignalsDeathTest, TurnsTheFirstSignalIntoARequest) {
  EXPECT_EXIT(
      {
        const std::atomic<bool>& requested = WatchStopSignals();
        if (requested.load() || StopSignal() != 0) std::_Exit(1);
        ::raise(SIGINT);
        std::_Exit(requested.load() && StopSignal() == SIGINT ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(StopSignalsDeathTest, EndsAtOnceOnASecondInterrupt) {
  EXPECT_EXIT(
      {
        WatchStopSignals();
        ::raise(SIGINT);
        ::raise(SIGINT);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(StopSignalsDeathTest, EndsAtOnceOnATerminationAfterAnInterrupt) {
  EXPECT_EXIT(
      {
        WatchStopSignals();
        ::raise(SIGINT);
        ::raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(143), "");
}

}  // namespace
}  // namespace agoq
