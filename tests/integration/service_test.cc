// Coordinator and workers as processes, with a stand-in for the trainer.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <set>
#include <string>
#include <thread>

#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "proto/common/uuid.h"
#include "server/job_state.h"
#include "tests/support/service_cluster.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMiB = 1 << 20;

ClusterOptions Options(std::vector<std::int64_t> worker_bytes, int step_ms = 1) {
  return {.trainer = AGOQ_FAKE_TRAINER,
          .worker_bytes = std::move(worker_bytes),
          .coordinator_flags = {"--backoff-seconds", "0.2", "--heartbeat-seconds", "0.1"},
          .worker_flags = {"--trainer-grace-seconds", "5"},
          .environment = {"AGOQ_FAKE_STEP_MS=" + std::to_string(step_ms)}};
}

grpc::Status Stop(ServiceCluster& cluster, const std::string& job, v1::StopJobRequest::Mode mode) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  v1::StopJobRequest request;
  request.set_job(job);
  request.set_mode(mode);
  v1::StopJobResponse response;
  return v1::JobService::NewStub(cluster.channel())->StopJob(&context, request, &response);
}

TEST(Service, RunsAJobToItsEnd) {
  ServiceCluster cluster(Options({kMiB * 1000, kMiB * 1000}));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("small", 2, 20), &job).ok());
  EXPECT_EQ(job.status().state(), v1::JOB_STATE_STARTING);
  const v1::Job done = cluster.WaitForEnd(job.id());
  ASSERT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  ASSERT_EQ(done.attempt().results_size(), 2);
  EXPECT_EQ(done.attempt().results(1).steps(), 20);
  EXPECT_EQ(done.attempt().plan().ranks_size(), 2);
  EXPECT_TRUE(cluster.WaitForWorkers());
}

TEST(Service, GivesWorkersOfDifferentMemoryDifferentPlans) {
  ServiceCluster cluster(Options({2 * kMiB, 4 * kMiB}));
  v1::Job job;
  const grpc::Status submitted = cluster.Submit(cluster.NewJob("uneven", 2, 5), &job);
  ASSERT_TRUE(submitted.ok()) << submitted.error_message();
  const v1::Job done = cluster.WaitForEnd(job.id());
  ASSERT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  const v1::BitPlan& plan = done.attempt().plan();
  EXPECT_EQ(done.attempt().placements(0).worker(), "worker-1");  // the larger one
  EXPECT_LE(plan.ranks(1).predicted_peak_bytes(), 2 * kMiB);
  EXPECT_GT(plan.ranks(0).predicted_peak_bytes(), plan.ranks(1).predicted_peak_bytes());
}

TEST(Service, RefusesAJobThatCanNeverFitWithNumbers) {
  ServiceCluster cluster(Options({kMiB / 2}));
  v1::Job job;
  const grpc::Status refused = cluster.Submit(cluster.NewJob("large", 1, 5), &job);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("worker-0 has 512.0 KiB free"));
  EXPECT_THAT(DetailLines(FromGrpc(refused)), ::testing::Contains(HasSubstr("micro_batch_size")));
  const grpc::Status wide = cluster.Submit(cluster.NewJob("wide", 3, 5), &job);
  EXPECT_EQ(wide.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(wide.error_message(), HasSubstr("needs 3 workers"));
}

TEST(Service, RefusesABadSpecWithEveryViolation) {
  ServiceCluster cluster(Options({kMiB * 100}));
  v1::JobSpec spec = cluster.NewJob("bad", 1, 5);
  spec.mutable_optimizer()->set_learning_rate(-1);
  spec.mutable_data()->set_path("relative");
  v1::Job job;
  const grpc::Status refused = cluster.Submit(spec, &job);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(DetailLines(FromGrpc(refused)),
              ::testing::UnorderedElementsAre(HasSubstr("optimizer.learning_rate"),
                                              HasSubstr("data.path")));
}

TEST(Service, AnswersARequestThatComesAgainAsBefore) {
  ServiceCluster cluster(Options({kMiB * 100}, 20));
  const std::string request = NewUuid();
  v1::Job first;
  v1::Job again;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("once", 1, 500), &first, request).ok());
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("once", 1, 500), &again, request).ok());
  EXPECT_EQ(first.id(), again.id());
  const grpc::Status taken = cluster.Submit(cluster.NewJob("once", 1, 501), &again);
  EXPECT_EQ(taken.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(taken.error_message(), HasSubstr("with another spec"));
}

TEST(Service, CancelsAndKills) {
  ServiceCluster cluster(Options({kMiB * 100}, 20));
  for (const auto mode : {v1::StopJobRequest::MODE_CANCEL, v1::StopJobRequest::MODE_KILL}) {
    v1::Job job;
    ASSERT_TRUE(
        cluster.Submit(cluster.NewJob("stop-" + std::to_string(mode), 1, 100'000), &job).ok());
    ASSERT_TRUE(cluster.WaitForStep(job.id(), 2));
    ASSERT_TRUE(Stop(cluster, job.id(), mode).ok());
    const v1::Job done = cluster.WaitForEnd(job.id());
    EXPECT_EQ(done.status().state(), v1::JOB_STATE_CANCELLED);
    EXPECT_EQ(done.attempt().cause(), v1::ATTEMPT_CAUSE_USER_STOP);
    EXPECT_EQ(Stop(cluster, job.id(), mode).error_code(), grpc::StatusCode::OK);
  }
}

TEST(Service, DoesNotTryAgainAfterAnErrorOfTheUsers) {
  ServiceCluster cluster(Options({kMiB * 100}));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("usererror", 1, 10), &job).ok());
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(done.status().reason(), v1::JOB_REASON_USER_ERROR);
  EXPECT_EQ(done.status().generation(), 1);
}

TEST(Service, TriesAgainFromTheLastCheckpoint) {
  ServiceCluster cluster(Options({kMiB * 100, kMiB * 100}, 5));
  v1::JobSpec spec = cluster.NewJob("kill-at-25-on-rank-1-once", 2, 40);
  spec.mutable_checkpoint()->set_interval(10);
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(spec, &job).ok());
  const v1::Job done = cluster.WaitForEnd(job.id());
  ASSERT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  EXPECT_EQ(done.status().generation(), 2);
  EXPECT_EQ(done.status().failures(), 1);
  v1::Job unbroken;
  spec.set_name("unbroken");
  spec.mutable_checkpoint()->set_uri((cluster.folder() / "unbroken").string());
  ASSERT_TRUE(cluster.Submit(spec, &unbroken).ok());
  EXPECT_EQ(cluster.WaitForEnd(unbroken.id()).attempt().results(0).final_loss(),
            done.attempt().results(0).final_loss());
}

TEST(Service, GivesUpWithoutProgress) {
  ServiceCluster cluster(Options({kMiB * 100}));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("exit7-at-2", 1, 10), &job).ok());
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(done.status().reason(), v1::JOB_REASON_NO_PROGRESS);
  EXPECT_EQ(done.status().generation(), 3);
  EXPECT_THAT(done.status().message(), HasSubstr("rank 0 on worker-0"));
}

// Fault case C-09.
TEST(Service, TrainingTakesNoNoticeOfTheCoordinatorsDeath) {
  ServiceCluster cluster(Options({kMiB * 100, kMiB * 100}, 10));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("long", 2, 400), &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 5));
  const std::int64_t before = cluster.Get(job.id()).status().progress().step();
  cluster.coordinator().Signal(SIGKILL);
  cluster.coordinator().WaitForEnd(std::chrono::seconds(5));
  cluster.StartCoordinator();
  ASSERT_TRUE(cluster.WaitForWorkers());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), before + 1));
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  EXPECT_EQ(done.status().generation(), 1);
}

// Fault case C-09, second half: the trainer died meanwhile.
TEST(Service, SeesAtItsReturnThatATrainerDied) {
  ServiceCluster cluster(Options({kMiB * 100}, 10));
  v1::JobSpec spec = cluster.NewJob("kill-at-150-once", 1, 200);
  spec.mutable_checkpoint()->set_interval(20);
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(spec, &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 5));
  cluster.coordinator().Signal(SIGKILL);
  cluster.coordinator().WaitForEnd(std::chrono::seconds(5));
  ASSERT_TRUE(Eventually([&] { return cluster.worker(0).Log().find("ended") != std::string::npos; },
                         std::chrono::seconds(20)))
      << cluster.worker(0).Log();
  cluster.StartCoordinator();
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  EXPECT_EQ(done.status().generation(), 2);
}

TEST(Service, AdoptsTheTrainerOfADaemonThatDied) {
  ServiceCluster cluster(Options({kMiB * 100}, 10));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("adopted", 1, 300), &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 5));
  cluster.worker(0).Signal(SIGKILL);
  cluster.worker(0).WaitForEnd(std::chrono::seconds(5));
  cluster.StartWorker(0);
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  EXPECT_EQ(done.status().generation(), 1);
}

TEST(Service, WatchEndsWithTheJob) {
  ServiceCluster cluster(Options({kMiB * 100}, 5));
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(cluster.NewJob("short", 1, 100), &job).ok());
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_job("short");
  const auto stub = v1::JobService::NewStub(cluster.channel());
  const auto stream = stub->WatchJob(&context, request);
  v1::WatchJobResponse update;
  std::vector<v1::JobState> states;
  while (stream->Read(&update)) {
    if (states.empty() || states.back() != update.job().status().state()) {
      states.push_back(update.job().status().state());
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.back(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace agoq
