#include "server/worker_liveness.h"

#include <gtest/gtest.h>

namespace agoq {
namespace {

WorkerEvidence Silent() { return {.silence_seconds = 11, .silence_limit_seconds = 120}; }

TEST(WorkerLiveness, KeepsASilentWorkerWhosePeersStep) {
  WorkerEvidence evidence = Silent();
  evidence.any_peer_is_connected = true;
  evidence.seconds_without_step = 4;
  evidence.silence_seconds = 10'000;
  EXPECT_FALSE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, LosesAWorkerWhosePeersStandStill) {
  WorkerEvidence evidence = Silent();
  evidence.any_peer_is_connected = true;
  evidence.step_seconds_p95 = 10;
  evidence.seconds_without_step = 19;
  EXPECT_FALSE(IsWorkerLost(evidence));
  evidence.seconds_without_step = 21;
  EXPECT_TRUE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, WaitsForTheSilenceLimitWithoutAnyPeer) {
  WorkerEvidence evidence = Silent();
  evidence.silence_seconds = 119;
  EXPECT_FALSE(IsWorkerLost(evidence));
  evidence.silence_seconds = 121;
  EXPECT_TRUE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, LosesAnIdleWorkerAtOnce) {
  WorkerEvidence evidence = Silent();
  evidence.is_idle = true;
  EXPECT_TRUE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, LosesAWorkerWhoseAttemptIsOver) {
  WorkerEvidence evidence = Silent();
  evidence.attempt_is_over = true;
  evidence.is_isolated = true;
  EXPECT_TRUE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, LosesNobodyWhileMostLeasesAreOver) {
  WorkerEvidence evidence = Silent();
  evidence.is_idle = true;
  evidence.is_isolated = true;
  EXPECT_FALSE(IsWorkerLost(evidence));
}

TEST(WorkerLiveness, LosesNobodyRightAfterTheStart) {
  WorkerEvidence evidence = Silent();
  evidence.is_idle = true;
  evidence.is_in_grace = true;
  EXPECT_FALSE(IsWorkerLost(evidence));
}

}  // namespace
}  // namespace agoq
