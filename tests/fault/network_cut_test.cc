// Fault case C-03: a network that is cut under open streams is noticed by both of their sides.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "proto/common/channel.h"
#include "tests/support/service_cluster.h"
#include "tests/support/tcp_relay.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

// After which either side of a silent connection must have given it up.
constexpr std::chrono::seconds kNoticed =
    kKeepaliveTime + kKeepaliveTimeout + std::chrono::seconds(5);

// A watcher of a job, over a channel of its own.
class Watcher {
 public:
  Watcher(const std::string& address, const std::string& job)
      : thread_([this, address, job] {
          grpc::ClientContext context;
          v1::WatchJobRequest request;
          request.set_job(job);
          const auto stub = v1::JobService::NewStub(NewChannel(address));
          const auto stream = stub->WatchJob(&context, request);
          v1::WatchJobResponse update;
          while (stream->Read(&update)) is_watching_ = true;
          status_ = stream->Finish();
        }) {}

  bool is_watching() const { return is_watching_; }
  grpc::Status Finish() {
    thread_.join();
    return status_;
  }

 private:
  std::atomic<bool> is_watching_{false};
  grpc::Status status_;
  std::thread thread_;
};

TEST(NetworkCut, C03BothSidesOfAStreamNotice) {
  ServiceCluster cluster({.trainer = AGOQ_FAKE_TRAINER,
                          .worker_bytes = {},
                          .coordinator_flags = {"--heartbeat-seconds", "0.5"}});
  TcpRelay relay(cluster.address());
  DaemonProcess worker(AGOQ_WORKER,
                       {"--coordinator", relay.address(), "--name", "far", "--state-directory",
                        cluster.folder() / "far", "--metrics-address", "127.0.0.1:0", "--device",
                        "cpu", "--memory-bytes", "1000000000", "--trainer", AGOQ_FAKE_TRAINER},
                       cluster.folder() / "far.log", {"AGOQ_FAKE_STEP_MS=20"});
  const auto has_state = [&](v1::WorkerState state) {
    return [&cluster, state] { return cluster.GetWorker("far").state() == state; };
  };
  ASSERT_TRUE(Eventually(has_state(v1::WORKER_STATE_READY), std::chrono::seconds(15)))
      << worker.Log();
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("far", 1, 1'000'000), &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 3));
  Watcher watcher(relay.address(), job.id());
  ASSERT_TRUE(Eventually([&] { return watcher.is_watching(); }, std::chrono::seconds(10)));

  const auto cut_at = std::chrono::steady_clock::now();
  relay.Cut();
  EXPECT_TRUE(Eventually(has_state(v1::WORKER_STATE_UNREACHABLE), kNoticed));
  EXPECT_TRUE(
      Eventually([&] { return worker.Log().find("tries again") != std::string::npos; }, kNoticed))
      << worker.Log();
  EXPECT_EQ(watcher.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_LT(std::chrono::steady_clock::now() - cut_at, kNoticed);

  // The worker finds its way back, and training has gone on.
  EXPECT_TRUE(Eventually(has_state(v1::WORKER_STATE_BUSY), std::chrono::seconds(20)))
      << worker.Log();
  EXPECT_EQ(cluster.Get(job.id()).status().generation(), 1);
}

}  // namespace
}  // namespace agoq
