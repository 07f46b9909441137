// The coordinator is killed at random moments while jobs are submitted: no acknowledged job is lost
// or doubled, and training takes no notice.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "proto/common/uuid.h"
#include "tests/support/service_cluster.h"

namespace agoq {
namespace {

constexpr int kRoundsOfEachRun = 10;

// AGOQ_KILL_ROUNDS asks for more.
int NumRounds() {
  const char* const wanted = std::getenv("AGOQ_KILL_ROUNDS");
  return wanted == nullptr ? kRoundsOfEachRun : std::atoi(wanted);
}

// Submits one small job after the other, each until it is acknowledged.
class Submitter {
 public:
  explicit Submitter(ServiceCluster& cluster)
      : cluster_(cluster),
        channel_(cluster.channel()),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) SubmitOne(stop);
        }) {}

  std::map<std::string, std::string> Finish() {
    thread_.request_stop();
    thread_.join();
    return jobs_;
  }

 private:
  void SubmitOne(const std::stop_token& stop) {
    v1::SubmitJobRequest request;
    request.set_request_id(NewUuid());
    request.set_allow_unsatisfiable(true);
    *request.mutable_spec() = cluster_.NewJob("job-" + std::to_string(++count_), 1, 3);
    request.mutable_spec()->mutable_checkpoint()->clear_uri();
    const auto stub = v1::JobService::NewStub(channel_);
    while (!stop.stop_requested()) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
      v1::SubmitJobResponse response;
      if (!stub->SubmitJob(&context, request, &response).ok()) continue;
      jobs_[request.request_id()] = response.job().id();
      return;
    }
  }

  ServiceCluster& cluster_;
  const std::shared_ptr<grpc::Channel> channel_;
  int count_ = 0;
  std::map<std::string, std::string> jobs_;  // by request
  std::jthread thread_;
};

std::map<std::string, int> CountByName(ServiceCluster& cluster) {
  std::map<std::string, int> counts;
  v1::ListJobsRequest request;
  request.set_page_size(1000);
  do {
    v1::ListJobsResponse response;
    // The first call after a kill may still meet the dead connection.
    const bool is_answered = Eventually(
        [&] {
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
          const auto stub = v1::JobService::NewStub(cluster.channel());
          return stub->ListJobs(&context, request, &response).ok();
        },
        std::chrono::seconds(20));
    EXPECT_TRUE(is_answered);
    if (!is_answered) return counts;
    for (const v1::Job& job : response.jobs()) ++counts[job.spec().name()];
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return counts;
}

TEST(CoordinatorKill, LosesAndDoublesNothing) {
  ServiceCluster cluster(
      {.trainer = AGOQ_FAKE_TRAINER,
       .worker_bytes = {std::int64_t{1} << 30, std::int64_t{1} << 30, std::int64_t{1} << 30},
       .coordinator_flags = {"--heartbeat-seconds", "0.2"},
       .environment = {"AGOQ_FAKE_STEP_MS=10"}});
  v1::JobSpec spec = cluster.NewJob("long", 2, 0);
  spec.mutable_steps()->set_total(1'000'000);
  v1::Job running;
  ASSERT_TRUE(cluster.Submit(spec, &running).ok());
  ASSERT_TRUE(cluster.WaitForStep(running.id(), 1));

  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Submitter submitter(cluster);
  for (int round = 0; round < NumRounds(); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 700));
    cluster.coordinator().Signal(SIGKILL);
    ASSERT_EQ(cluster.coordinator().WaitForEnd(std::chrono::seconds(5)), 128 + SIGKILL);
    cluster.StartCoordinator();
  }
  const std::map<std::string, std::string> acknowledged = submitter.Finish();
  ASSERT_GT(acknowledged.size(), static_cast<std::size_t>(NumRounds()));

  const std::map<std::string, int> counts = CountByName(cluster);
  for (const auto& [name, count] : counts) EXPECT_EQ(count, 1) << name;
  // One worker is free for all of them.
  const std::chrono::seconds patience(60 + static_cast<int>(acknowledged.size()) * 2);
  for (const auto& [request, id] : acknowledged) {
    EXPECT_EQ(cluster.WaitForEnd(id, patience).status().state(), v1::JOB_STATE_SUCCEEDED) << id;
  }
  ASSERT_TRUE(cluster.WaitForState(running.id(), v1::JOB_STATE_RUNNING));
  const v1::Job after = cluster.Get(running.id());
  EXPECT_EQ(after.status().generation(), 1);
  EXPECT_TRUE(cluster.WaitForStep(running.id(), after.status().progress().step() + 1));
}

}  // namespace
}  // namespace agoq
