// Real trainers under a coordinator: plans hold, and what breaks is made good.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <set>
#include <string>

#include "proto/common/job_plan.h"
#include "proto/common/message_rules.h"
#include "tests/support/service_cluster.h"

namespace agoq {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// A text of which something can be learned, as token data; next to the cluster, whose folder comes
// with it.
std::string MakeData(const TemporaryFolder& folder) {
  std::string text;
  for (int i = 0; text.size() < 60'000; ++i) {
    text += "line " + std::to_string(i % 97) + ": the quick brown fox jumps over the lazy dog\n";
  }
  std::ofstream(folder / "text.txt") << text;
  DaemonProcess tokenize(AGOQ_TRAINER, {"tokenize", folder / "text.txt", folder / "text"},
                         folder / "tokenize.log");
  EXPECT_EQ(tokenize.WaitForEnd(std::chrono::seconds(60)), 0) << tokenize.Log();
  return folder / "text";
}

v1::JobSpec RealJob(const ServiceCluster& cluster, const std::string& data, const std::string& name,
                    std::int64_t ranks, std::int64_t steps) {
  v1::JobSpec job = cluster.NewJob(name, ranks, steps);
  job.mutable_model()->set_num_hidden_layers(4);
  job.mutable_data()->set_path(data + "_train");
  job.mutable_data()->set_validation_path(data + "_valid");
  job.mutable_steps()->set_micro_batch_size(8);
  job.mutable_steps()->set_sequence_length(64);
  job.mutable_optimizer()->set_learning_rate(1e-3);
  job.mutable_checkpoint()->set_interval(5);
  return job;
}

ClusterOptions Options(std::vector<std::int64_t> worker_bytes) {
  return {.trainer = AGOQ_TRAINER,
          .worker_bytes = std::move(worker_bytes),
          .coordinator_flags = {"--backoff-seconds", "0.2", "--heartbeat-seconds", "0.1"},
          .worker_flags = {"--trainer-grace-seconds", "2"}};
}

std::int64_t Total(const google::protobuf::RepeatedPtrField<v1::LabelBytes>& labels) {
  std::int64_t total = 0;
  for (const v1::LabelBytes& label : labels) total += label.bytes();
  return total;
}

// Memory for what is held anyway, and a part of the saved activations at full.
std::vector<std::int64_t> Budgets(const std::vector<double>& parts) {
  ServiceCluster none({.trainer = AGOQ_TRAINER, .worker_bytes = {}});
  v1::JobSpec job = RealJob(none, "/data", "sizes", static_cast<std::int64_t>(parts.size()), 1);
  FillDefaults(&job);
  const RankOutcome full = PlanRank(job, 0, 0);
  std::vector<std::int64_t> budgets;
  for (const double part : parts) {
    budgets.push_back(
        full.predicted.total() -
        static_cast<std::int64_t>((1 - part) * static_cast<double>(full.saved_bytes)));
  }
  return budgets;
}

TEST(PlannedTraining, FourBudgetsGetFourPlansThatHold) {
  const TemporaryFolder folder;
  const std::string data = MakeData(folder);
  const std::vector<std::int64_t> budgets = Budgets({1.0, 0.5, 0.25, 0.18});
  ServiceCluster cluster(Options(budgets));
  v1::Job job;
  const grpc::Status submitted = cluster.Submit(RealJob(cluster, data, "four", 4, 6), &job);
  ASSERT_TRUE(submitted.ok()) << submitted.error_message();
  const v1::Job done = cluster.WaitForEnd(job.id(), std::chrono::seconds(120));
  ASSERT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.status().DebugString();
  std::set<std::string> plans;
  for (int rank = 0; rank < 4; ++rank) {
    const v1::RankResult& result = done.attempt().results(rank);
    const std::int64_t budget = done.attempt().placements(rank).budget_bytes();
    EXPECT_EQ(budget, budgets[static_cast<std::size_t>(rank)]);
    const std::int64_t peak = Total(result.peak());
    const std::int64_t predicted = Total(result.predicted());
    EXPECT_LE(peak, budget);
    EXPECT_LE(peak, predicted);
    EXPECT_LE(static_cast<double>(predicted), 1.03 * static_cast<double>(peak));
    v1::RankPlan policies = done.attempt().plan().ranks(rank);
    policies.clear_rank();
    policies.clear_budget_bytes();
    policies.clear_predicted_peak_bytes();
    for (v1::LayerPlan& layer : *policies.mutable_layers()) layer.clear_reason();
    plans.insert(policies.SerializeAsString());
  }
  EXPECT_EQ(plans.size(), 4U);
}

pid_t TrainerOf(const ServiceCluster& cluster, const std::string& worker, const v1::Job& job) {
  std::ifstream file(cluster.folder() / worker / "attempts" / (job.id() + "-1") / "trainer.pid");
  pid_t pid = 0;
  EXPECT_TRUE(file >> pid);
  return pid;
}

bool IsGone(pid_t pid) { return ::kill(pid, 0) != 0; }

TEST(PlannedTraining, AKilledTrainerCostsNothingButTime) {
  const TemporaryFolder folder;
  const std::string data = MakeData(folder);
  ServiceCluster cluster(Options({kMiB * 100, kMiB * 100}));
  v1::Job unbroken;
  ASSERT_TRUE(cluster.Submit(RealJob(cluster, data, "unbroken", 2, 60), &unbroken).ok());
  const v1::Job expected = cluster.WaitForEnd(unbroken.id(), std::chrono::seconds(120));
  ASSERT_EQ(expected.status().state(), v1::JOB_STATE_SUCCEEDED) << expected.DebugString();
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(RealJob(cluster, data, "broken", 2, 60), &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 7));
  ASSERT_EQ(::kill(TrainerOf(cluster, "worker-1", job), SIGKILL), 0);
  const v1::Job done = cluster.WaitForEnd(job.id(), std::chrono::seconds(120));
  ASSERT_EQ(done.status().state(), v1::JOB_STATE_SUCCEEDED) << done.DebugString();
  EXPECT_EQ(done.status().generation(), 2);
  EXPECT_EQ(done.attempt().results(0).final_loss(), expected.attempt().results(0).final_loss());
  EXPECT_EQ(done.attempt().results(0).validation_loss(),
            expected.attempt().results(0).validation_loss());
}

TEST(PlannedTraining, P05AFrozenRankIsNamedAndReplaced) {
  const TemporaryFolder folder;
  const std::string data = MakeData(folder);
  ServiceCluster cluster(Options({kMiB * 100, kMiB * 100}));
  v1::JobSpec spec = RealJob(cluster, data, "frozen", 2, 100'000);
  spec.mutable_timeouts()->set_collective_seconds(10);
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(spec, &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 7));
  const std::vector<pid_t> trainers = {TrainerOf(cluster, "worker-0", job),
                                       TrainerOf(cluster, "worker-1", job)};
  const std::int64_t frozen_rank =
      cluster.Get(job.id()).attempt().placements(1).worker() == "worker-1" ? 1 : 0;
  ASSERT_EQ(::kill(trainers[1], SIGSTOP), 0);
  ASSERT_TRUE(Eventually([&] { return IsGone(trainers[0]) && IsGone(trainers[1]); },
                         std::chrono::seconds(20)));
  ASSERT_TRUE(Eventually([&] { return cluster.Get(job.id()).status().generation() == 2; },
                         std::chrono::seconds(20)));
  EXPECT_TRUE(cluster.WaitForStep(job.id(), 12));
  EXPECT_THAT(cluster.Events(job.id()),
              ::testing::Contains(::testing::HasSubstr("rank " + std::to_string(frozen_rank))));
}

TEST(PlannedTraining, SaysWhichFileOfTheJobIsMissing) {
  ServiceCluster cluster(Options({kMiB * 100}));
  v1::Job job;
  ASSERT_TRUE(
      cluster.Submit(RealJob(cluster, (cluster.folder() / "nothing").string(), "lost", 1, 5), &job)
          .ok());
  const v1::Job done = cluster.WaitForEnd(job.id());
  EXPECT_EQ(done.status().reason(), v1::JOB_REASON_USER_ERROR);
  EXPECT_THAT(done.status().message(), ::testing::HasSubstr("nothing_train"));
}

TEST(PlannedTraining, ADeadDaemonsTrainerStopsWithACheckpoint) {
  const TemporaryFolder folder;
  const std::string data = MakeData(folder);
  ServiceCluster cluster(Options({kMiB * 100}));
  v1::JobSpec spec = RealJob(cluster, data, "orphan", 1, 100'000);
  spec.mutable_checkpoint()->set_interval(0);
  v1::Job job;
  ASSERT_TRUE(cluster.Submit(spec, &job).ok());
  ASSERT_TRUE(cluster.WaitForStep(job.id(), 3));
  const auto attempt = cluster.folder() / "worker-0" / "attempts" / (job.id() + "-1");
  const pid_t trainer = TrainerOf(cluster, "worker-0", job);
  cluster.worker(0).Signal(SIGKILL);
  EXPECT_TRUE(Eventually([&] { return IsGone(trainer); }, std::chrono::seconds(20)));
  EXPECT_TRUE(std::filesystem::exists(attempt / "end.pb"));
  EXPECT_FALSE(std::filesystem::is_empty(spec.checkpoint().uri()));
}

}  // namespace
}  // namespace agoq
