// What a restarted daemon makes of the folders that it finds.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/unit/daemon/supervisor_fixture.h"

namespace agoq {
namespace {

using testing::HasSubstr;

class AdoptionTest : public SupervisorFixture {
 protected:
  // The daemon dies while that rank runs; its trainer does not.
  std::shared_ptr<ScriptedFate> RunThenRestart(const v1::RankId& id) {
    std::shared_ptr<ScriptedFate> fate = StartRank(id);
    Restart();
    return fate;
  }
};

TEST_F(AdoptionTest, ALivingTrainerGoesOnAndIsKnownBeforeTheFirstHello) {
  const auto fate = RunThenRestart(Rank("job", 1));
  std::jthread trainer([this] { trainer_->Connect(/*is_started=*/true); });
  supervisor_->AdoptFolders();
  trainer.join();
  ASSERT_EQ(supervisor_->Statuses().size(), 1u);
  EXPECT_EQ(supervisor_->Statuses()[0].state(), v1::TaskStatus::STATE_RUNNING);
  EXPECT_FALSE(fate->is_killed());
  fate->End({});
}

TEST_F(AdoptionTest, AnAdoptedTrainerThatWaitsForStartIsPrepared) {
  const auto fate = PrepareRank(Rank("job", 1));
  Restart();
  std::jthread trainer([this] { trainer_->Connect(/*is_started=*/false); });
  supervisor_->AdoptFolders();
  trainer.join();
  EXPECT_EQ(supervisor_->Statuses()[0].state(), v1::TaskStatus::STATE_PREPARED);
  fate->End({});
}

TEST_F(AdoptionTest, ADeadTrainersReportIsTold) {
  const v1::RankId id = Rank("job", 1);
  StartRank(id);
  supervisor_.reset();
  v1::TrainerEnd end;
  end.set_cause(v1::ATTEMPT_CAUSE_DRAINED);
  end.mutable_result()->set_steps(9);
  std::ofstream(FolderOf(id).path() / "end.pb") << end.SerializeAsString();
  std::ofstream(FolderOf(id).path() / "trainer.pid") << "12 3\n";
  Restart();
  supervisor_->AdoptFolders();
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_DRAINED);
  EXPECT_EQ(status.result().steps(), 9);
}

TEST_F(AdoptionTest, ADeadTrainerWithoutAReportEndedWhileTheDaemonWasAway) {
  const v1::RankId id = Rank("job", 1);
  StartRank(id);
  supervisor_.reset();
  std::ofstream(FolderOf(id).path() / "trainer.pid") << "12 3\n";
  Restart();
  supervisor_->AdoptFolders();
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_RANK_EXIT);
  EXPECT_THAT(status.message(), HasSubstr("while the daemon was away"));
}

TEST_F(AdoptionTest, AnEndThatWasSeenBeforeTheRestartIsKept) {
  const auto fate = StartRank(Rank("job", 1));
  fate->End({.exit_code = -1, .signal = 11});
  AwaitExit();
  Restart();
  supervisor_->AdoptFolders();
  ASSERT_EQ(supervisor_->Statuses().size(), 1u);
  EXPECT_EQ(supervisor_->Statuses()[0].signal(), 11);
}

TEST_F(AdoptionTest, ARankThatTheCoordinatorDoesNotNameIsKilledAndForgotten) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  supervisor_->KeepOnly({Rank("other", 1)});
  EXPECT_TRUE(fate->AwaitKill());
  EXPECT_TRUE(supervisor_->AwaitEnds(kTestPatience));
  supervisor_->Tick();
  EXPECT_TRUE(supervisor_->Memory().empty());
  EXPECT_TRUE(told_.is_empty());
  EXPECT_FALSE(FolderOf(id).ReadTask());
}

TEST_F(AdoptionTest, ANamedRankGoesOn) {
  const auto fate = StartRank(Rank("job", 1));
  supervisor_->KeepOnly({Rank("job", 1)});
  EXPECT_EQ(supervisor_->Statuses().size(), 1u);
  fate->End({});
  EXPECT_EQ(AwaitExit().cause(), v1::ATTEMPT_CAUSE_RANK_EXIT);
}

TEST_F(AdoptionTest, AnEndThatTheCoordinatorDoesNotAskForIsForgotten) {
  const auto fate = StartRank(Rank("job", 1));
  fate->End({});
  AwaitExit();
  supervisor_->KeepOnly({});
  EXPECT_TRUE(supervisor_->Statuses().empty());
  EXPECT_TRUE(supervisor_->AwaitForgotten(std::chrono::seconds(0)));
}

}  // namespace
}  // namespace agoq
