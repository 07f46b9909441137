// The whole daemon, with real trainers' processes and a coordinator that the test plays.
#include "worker/daemon/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tests/unit/daemon/scripted_coordinator.h"

namespace agoq {
namespace {

using testing::HasSubstr;
using Message = v1::WorkerMessage;

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    config_.set_coordinator("unix:" + (folder_ / "coordinator"));
    config_.set_name("w1");
    config_.set_state_directory(folder_ / state_);
    config_.set_metrics_address("127.0.0.1:0");
    config_.set_device("cpu");
    config_.set_memory_bytes(5000);
    config_.set_trainer(SCRIPTED_TRAINER);
    config_.set_advertise_host("127.0.0.1");
    config_.set_trainer_grace_seconds(30);
    config_.set_kill_seconds(5);
    config_.set_series_seconds(600);
    config_.set_drain_seconds(20);
    id_.set_job_id("job");
    id_.set_generation(1);
  }
  // Its session, after Hello and Welcome.
  void StartDaemon(const std::vector<v1::RankId>& adopt = {}) {
    auto daemon = Daemon::Start(config_, log_);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    session_ = coordinator_.AwaitSession();
    ASSERT_TRUE(session_);
    hello_ = session_->Await(Message::kHello).hello();
    v1::CoordinatorMessage welcome = Command();
    welcome.mutable_welcome()->set_protocol(1);
    welcome.mutable_welcome()->set_heartbeat_seconds(0.05);
    welcome.mutable_welcome()->mutable_adopt()->Assign(adopt.begin(), adopt.end());
    ASSERT_TRUE(session_->Send(welcome));
  }
  static v1::CoordinatorMessage Command() {
    v1::CoordinatorMessage message;
    message.set_epoch(1);
    return message;
  }
  v1::TaskStatus AwaitState(v1::TaskStatus::State state) {
    return session_->received
        .TakeFirst([state](const Message& message) {
          return message.has_task_status() && message.task_status().state() == state;
        })
        .value_or(Message())
        .task_status();
  }
  std::int64_t ProfiledBytes() {
    v1::CoordinatorMessage profile = Command();
    *profile.mutable_profile()->mutable_id() = id_;
    session_->Send(profile);
    return session_->Await(Message::kProfileResult).profile_result().usable_bytes();
  }
  void RunRank() {
    v1::CoordinatorMessage prepare = Command();
    *prepare.mutable_prepare()->mutable_id() = id_;
    prepare.mutable_prepare()->mutable_spec()->set_name("demo");
    prepare.mutable_prepare()->set_world(1);
    prepare.mutable_prepare()->set_budget_bytes(2000);
    prepare.mutable_prepare()->set_timeout_seconds(20);
    ASSERT_TRUE(session_->Send(prepare));
    ASSERT_EQ(AwaitState(v1::TaskStatus::STATE_PREPARED).id().job_id(), "job");
    v1::CoordinatorMessage start = Command();
    *start.mutable_start()->mutable_id() = id_;
    ASSERT_TRUE(session_->Send(start));
    ASSERT_EQ(AwaitState(v1::TaskStatus::STATE_RUNNING).id().job_id(), "job");
  }
  // SIGTERM to the daemon, and a coordinator that takes the end.
  v1::TaskStatus DrainDaemon() {
    v1::TaskStatus exit;
    std::jthread taker([&] {
      exit = AwaitState(v1::TaskStatus::STATE_EXITED);
      v1::CoordinatorMessage forget = Command();
      *forget.mutable_forget()->mutable_id() = id_;
      session_->Send(forget);
    });
    daemon_->Drain();
    taker.join();
    return exit;
  }
  AttemptFolder Folder() const {
    return AttemptFolder(std::filesystem::path(config_.state_directory()) / "attempts" /
                         AttemptName(id_));
  }
  // A process that the trainer has started.
  std::unique_ptr<TrainerProcess> TrainersChild() const {
    pid_t pid = 0;
    std::ifstream(Folder().path() / "child.pid") >> pid;
    const std::optional<ProcessIdentity> identity = IdentityOf(pid);
    EXPECT_TRUE(identity);
    return identity ? *PosixProcessTable().Adopt(*identity) : nullptr;
  }

  TemporaryFolder folder_;
  std::string state_ = "state";
  v1::WorkerConfig config_;
  Log log_{"test", "error"};
  v1::RankId id_;
  ScriptedCoordinator coordinator_{"unix:" + (folder_ / "coordinator")};
  std::shared_ptr<ScriptedSession> session_;
  v1::Hello hello_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(DaemonTest, TellsWhoItIsAndWhatItHas) {
  StartDaemon();
  EXPECT_EQ(hello_.worker(), "w1");
  EXPECT_EQ(hello_.incarnation().size(), 36u);
  EXPECT_EQ(hello_.metrics_url(), daemon_->metrics_url());
  ASSERT_EQ(hello_.devices_size(), 1);
  EXPECT_EQ(hello_.devices(0).total_bytes(), 5000);
  EXPECT_EQ(session_->Await(Message::kHeartbeat).heartbeat().devices(0).free_bytes(), 5000);
}

TEST_F(DaemonTest, RunsAnAttemptAndDrainsItBeforeItStops) {
  StartDaemon();
  EXPECT_EQ(ProfiledBytes(), 5000);
  RunRank();
  EXPECT_EQ(ProfiledBytes(), 3000);
  const v1::TaskStatus exit = DrainDaemon();
  EXPECT_EQ(exit.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(exit.exit_code(), 143);
  EXPECT_EQ(exit.result().steps(), 1);
}

TEST_F(DaemonTest, ATrainerOutlivesItsDaemonAndIsAdoptedByTheNext) {
  StartDaemon();
  RunRank();
  daemon_.reset();
  StartDaemon({id_});
  ASSERT_EQ(hello_.tasks_size(), 1);
  EXPECT_EQ(hello_.tasks(0).state(), v1::TaskStatus::STATE_RUNNING);
  EXPECT_EQ(DrainDaemon().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

TEST_F(DaemonTest, AStateDirectoryMayHaveALongName) {
  config_.set_state_directory(folder_ / std::string(120, 'x'));
  StartDaemon();
  RunRank();
  daemon_.reset();
  StartDaemon({id_});
  EXPECT_EQ(hello_.tasks(0).state(), v1::TaskStatus::STATE_RUNNING);
  EXPECT_EQ(DrainDaemon().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

// C-08: no trainer and no child of one stays behind, whatever they do about SIGTERM.
TEST_F(DaemonTest, C08AnAbandonedTrainerIsKilledWithItsChildren) {
  StartDaemon();
  RunRank();
  const std::optional<ProcessIdentity> trainer = Folder().ReadProcess();
  ASSERT_TRUE(trainer);
  const auto child = TrainersChild();
  daemon_.reset();
  StartDaemon(/*adopt=*/{});
  daemon_->Drain();
  EXPECT_FALSE(IdentityOf(trainer->pid));
  EXPECT_TRUE(child->WaitForEnd(kTestPatience));
}

TEST_F(DaemonTest, AKilledTrainerIsNoticed) {
  StartDaemon();
  RunRank();
  ::kill(Folder().ReadProcess()->pid, SIGKILL);
  const v1::TaskStatus exit = AwaitState(v1::TaskStatus::STATE_EXITED);
  EXPECT_EQ(exit.cause(), v1::ATTEMPT_CAUSE_RANK_EXIT);
  EXPECT_EQ(exit.signal(), SIGKILL);
  EXPECT_THAT(exit.log_tail(), HasSubstr("trainer runs"));
}

TEST_F(DaemonTest, AMetricsPortInUseIsNamed) {
  StartDaemon();
  const std::string url = daemon_->metrics_url();
  const std::size_t start = url.find("//") + 2;
  config_.set_metrics_address(url.substr(start, url.rfind('/') - start));
  config_.set_state_directory(folder_ / "other");
  const absl::Status status = Daemon::Start(config_, log_).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(config_.metrics_address()));
}

}  // namespace
}  // namespace agoq
