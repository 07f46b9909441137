// Fault case C-04: the coordinator stops in time, whoever still listens to it.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/service_cluster.h"

namespace agoq {
namespace {

constexpr int kRoundsOfEachRun = 5;

// AGOQ_SHUTDOWN_ROUNDS asks for more.
int NumRounds() {
  const char* const wanted = std::getenv("AGOQ_SHUTDOWN_ROUNDS");
  return wanted == nullptr ? kRoundsOfEachRun : std::atoi(wanted);
}

// Three that watch a job and read all they get, and one that follows its log and has stopped
// reading.
class OpenStreams {
 public:
  OpenStreams(ServiceCluster& cluster, const std::string& job)
      : stub_(v1::JobService::NewStub(cluster.channel())) {
    for (Watcher& watcher : watchers_) {
      v1::WatchJobRequest request;
      request.set_job(job);
      watcher.stream = stub_->WatchJob(&watcher.context, request);
      watcher.thread = std::thread([this, &watcher] {
        v1::WatchJobResponse update;
        if (watcher.stream->Read(&update)) ++num_watching_;
        while (watcher.stream->Read(&update)) {
        }
        watcher.end = watcher.stream->Finish();
      });
    }
    v1::TailLogsRequest request;
    request.set_job(job);
    request.set_follow(true);
    log_ = stub_->TailLogs(&log_context_, request);
    v1::TailLogsResponse lines;
    has_log_ = log_->Read(&lines);
  }

  bool AreOpen() {
    return has_log_ && Eventually([this] { return num_watching_ == 3; }, std::chrono::seconds(20));
  }
  std::vector<grpc::Status> Finish() {
    std::vector<grpc::Status> ends;
    for (Watcher& watcher : watchers_) {
      watcher.thread.join();
      ends.push_back(watcher.end);
    }
    v1::TailLogsResponse lines;
    while (log_->Read(&lines)) {
    }
    ends.push_back(log_->Finish());
    return ends;
  }

 private:
  struct Watcher {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::WatchJobResponse>> stream;
    grpc::Status end;
    std::thread thread;
  };

  const std::unique_ptr<v1::JobService::Stub> stub_;
  std::atomic<int> num_watching_{0};
  std::vector<Watcher> watchers_ = std::vector<Watcher>(3);
  grpc::ClientContext log_context_;
  std::unique_ptr<grpc::ClientReader<v1::TailLogsResponse>> log_;
  bool has_log_ = false;
};

TEST(CoordinatorShutdown, C04EndsWithOpenStreams) {
  ServiceCluster cluster({.trainer = AGOQ_FAKE_TRAINER,
                          .coordinator_flags = {"--heartbeat-seconds", "0.1"},
                          .environment = {"AGOQ_FAKE_STEP_MS=20"}});
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("watched", 1, 1'000'000), &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 1));
  for (int round = 0; round < NumRounds(); ++round) {
    OpenStreams streams(cluster, job.id());
    EXPECT_TRUE(streams.AreOpen()) << "round " << round;
    cluster.coordinator().Signal(SIGTERM);
    EXPECT_EQ(cluster.coordinator().WaitForEnd(std::chrono::seconds(10)), 0) << "round " << round;
    for (const grpc::Status& end : streams.Finish()) {
      EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAVAILABLE) << end.error_message();
    }
    if (HasFailure()) return;
    cluster.StartCoordinator();
    ASSERT_TRUE(cluster.WaitForWorkers()) << "round " << round;
  }
}

}  // namespace
}  // namespace agoq
