// The life of a rank, from Prepare to Forget.
#include "worker/daemon/supervisor.h"

#include <gmock/gmock.h>

#include <fstream>

#include "proto/common/progress_page.h"
#include "tests/unit/daemon/supervisor_fixture.h"

namespace agoq {
namespace {

using testing::HasSubstr;
using SupervisorTest = SupervisorFixture;

TEST_F(SupervisorTest, WritesTheTaskBeforeTheTrainerStarts) {
  v1::Prepare prepare = PrepareOf(Rank("job", 3));
  prepare.set_world(4);
  ASSERT_EQ(supervisor_->Prepare(prepare), "");
  const auto spawned = processes_.spawned().Take();
  ASSERT_TRUE(spawned);
  const AttemptFolder folder = FolderOf(Rank("job", 3));
  EXPECT_EQ(spawned->request.program, "/bin/agoq-trainer");
  EXPECT_THAT(spawned->request.arguments, testing::ElementsAre("attempt", folder.path().string()));
  const std::optional<v1::TrainerTask> task = folder.ReadTask();
  ASSERT_TRUE(task);
  EXPECT_EQ(task->world(), 4);
  EXPECT_EQ(task->budget_bytes(), 1000);
  EXPECT_EQ(task->host(), "host");
  EXPECT_EQ(task->device_kind(), v1::Device::KIND_CUDA);
  EXPECT_EQ(task->grace_seconds(), 30);
  spawned->fate->End({});
}

TEST_F(SupervisorTest, IsPreparedOnceTheTrainerSaysHello) {
  const auto fate = PrepareRank(Rank("job", 1));
  ASSERT_EQ(supervisor_->Statuses().size(), 1u);
  EXPECT_EQ(supervisor_->Statuses()[0].state(), v1::TaskStatus::STATE_PREPARED);
  fate->End({});
}

TEST_F(SupervisorTest, StartReachesTheTrainer) {
  const auto fate = StartRank(Rank("job", 1));
  EXPECT_EQ(supervisor_->Statuses()[0].state(), v1::TaskStatus::STATE_RUNNING);
  fate->End({});
}

TEST_F(SupervisorTest, RepeatsStartToATrainerThatConnectsAgainWithoutIt) {
  const auto fate = StartRank(Rank("job", 1));
  trainer_->Disconnect();
  ASSERT_TRUE(trainer_->Connect(/*is_started=*/false));
  EXPECT_TRUE(trainer_->Receive().has_start());
  fate->End({});
}

TEST_F(SupervisorTest, TellsTheEndOnlyOnceTheProcessIsGone) {
  const auto fate = StartRank(Rank("job", 1));
  v1::FromTrainer end = EndMessage(v1::ATTEMPT_CAUSE_COMPLETED);
  end.mutable_end()->mutable_result()->set_steps(12);
  ASSERT_TRUE(trainer_->Send(end));
  ASSERT_TRUE(trainer_->Receive().has_go());
  EXPECT_NE(supervisor_->Statuses()[0].state(), v1::TaskStatus::STATE_EXITED);
  fate->End({.exit_code = 0});
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_COMPLETED);
  EXPECT_EQ(status.exit_code(), 0);
  EXPECT_EQ(status.result().steps(), 12);
}

TEST_F(SupervisorTest, DeathWithoutAReportIsARankExitWithTheEndOfItsLog) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  std::ofstream(FolderOf(id).log()) << "last words\n";
  fate->End({.exit_code = -1, .signal = 9});
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_RANK_EXIT);
  EXPECT_EQ(status.signal(), 9);
  EXPECT_THAT(status.message(), HasSubstr("ended by signal 9 (Killed)"));
  EXPECT_EQ(status.log_tail(), "last words\n");
}

TEST_F(SupervisorTest, FindsTheReportInTheFolderWhenTheSocketWasTooLate) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  trainer_.reset();
  v1::TrainerEnd end;
  end.set_cause(v1::ATTEMPT_CAUSE_OOM);
  end.set_message("no memory");
  std::ofstream(FolderOf(id).path() / "end.pb") << end.SerializeAsString();
  fate->End({.exit_code = 1});
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_OOM);
  EXPECT_EQ(status.message(), "no memory");
}

TEST_F(SupervisorTest, ATrainerThatNeverSaysHelloIsKilled) {
  ASSERT_EQ(supervisor_->Prepare(PrepareOf(Rank("job", 1))), "");
  const auto spawned = processes_.spawned().Take();
  ASSERT_TRUE(spawned);
  clock_.Move(std::chrono::seconds(61));
  EXPECT_TRUE(spawned->fate->AwaitKill());
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_START_FAILED);
  EXPECT_THAT(status.message(), HasSubstr("60 s"));
}

TEST_F(SupervisorTest, ATrainerThatCannotBeStartedIsAFailedStart) {
  processes_.FailSpawns(absl::UnavailableError("/bin/agoq-trainer: no such file"));
  ASSERT_EQ(supervisor_->Prepare(PrepareOf(Rank("job", 1))), "");
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_START_FAILED);
  EXPECT_THAT(status.message(), HasSubstr("no such file"));
}

TEST_F(SupervisorTest, DrainAsksTheTrainerToStop) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  v1::Drain drain;
  *drain.mutable_id() = id;
  drain.set_deadline_seconds(10);
  drain.set_reason("user asked");
  supervisor_->Drain(drain);
  EXPECT_EQ(trainer_->Receive().stop().reason(), "user asked");
  EXPECT_FALSE(fate->is_killed());
  ASSERT_TRUE(trainer_->Send(EndMessage(v1::ATTEMPT_CAUSE_DRAINED)));
  ASSERT_TRUE(trainer_->Receive().has_go());
  fate->End({.exit_code = 143});
  EXPECT_EQ(AwaitExit().cause(), v1::ATTEMPT_CAUSE_DRAINED);
}

TEST_F(SupervisorTest, C08DrainBecomesAKillAtItsDeadline) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  v1::Drain drain;
  *drain.mutable_id() = id;
  drain.set_deadline_seconds(10);
  supervisor_->Drain(drain);
  ASSERT_TRUE(trainer_->Receive().has_stop());
  clock_.Move(std::chrono::seconds(11));
  EXPECT_TRUE(fate->AwaitKill());
  EXPECT_THAT(AwaitExit().message(), HasSubstr("had not stopped 10 s after the request"));
}

TEST_F(SupervisorTest, AbortKillsAtOnce) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  v1::Abort abort;
  *abort.mutable_id() = id;
  abort.set_reason("rank 1 failed");
  supervisor_->Abort(abort);
  EXPECT_TRUE(fate->AwaitKill());
  EXPECT_EQ(AwaitExit().message(), "killed: rank 1 failed");
}

TEST_F(SupervisorTest, ATrainerThatStaysAfterItsEndIsKilledAndItsReportHolds) {
  const auto fate = StartRank(Rank("job", 1));
  ASSERT_TRUE(trainer_->Send(EndMessage(v1::ATTEMPT_CAUSE_COMPLETED)));
  ASSERT_TRUE(trainer_->Receive().has_go());
  clock_.Move(std::chrono::seconds(6));
  EXPECT_TRUE(fate->AwaitKill());
  EXPECT_EQ(AwaitExit().cause(), v1::ATTEMPT_CAUSE_COMPLETED);
}

TEST_F(SupervisorTest, C08NamesAProcessThatCannotBeKilled) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  fate->MakeUnkillable();
  v1::Abort abort;
  *abort.mutable_id() = id;
  supervisor_->Abort(abort);
  ASSERT_TRUE(fate->AwaitKill());
  EXPECT_FALSE(supervisor_->AwaitEnds(std::chrono::milliseconds(1)));
  while (supervisor_->problem().empty()) {
    clock_.Move(std::chrono::seconds(1));
    std::this_thread::yield();
  }
  EXPECT_THAT(supervisor_->problem(), HasSubstr("process 4000001"));
  EXPECT_EQ(supervisor_->Memory().size(), 1u);
  fate->End({});
  AwaitExit();
  EXPECT_EQ(supervisor_->problem(), "");
}

TEST_F(SupervisorTest, ARepeatedPrepareAnswersWithTheStatusAndStartsNothing) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = PrepareRank(id);
  EXPECT_EQ(supervisor_->Prepare(PrepareOf(id)), "");
  EXPECT_EQ(told_.Take()->state(), v1::TaskStatus::STATE_PREPARED);
  EXPECT_TRUE(processes_.spawned().is_empty());
  fate->End({});
}

TEST_F(SupervisorTest, RefusesAnOlderGeneration) {
  const auto fate = PrepareRank(Rank("job", 5));
  EXPECT_THAT(supervisor_->Prepare(PrepareOf(Rank("job", 4))),
              HasSubstr("generation 4 of job job comes too late"));
  fate->End({});
}

TEST_F(SupervisorTest, ANewerGenerationEndsTheOlderOne) {
  const auto older = PrepareRank(Rank("job", 1));
  const auto newer = PrepareRank(Rank("job", 2));
  EXPECT_TRUE(older->AwaitKill());
  EXPECT_FALSE(newer->is_killed());
  newer->End({});
}

TEST_F(SupervisorTest, RefusesAJobIdThatIsNoFolderName) {
  EXPECT_THAT(supervisor_->Prepare(PrepareOf(Rank("../x", 1))), HasSubstr("'../x'"));
}

TEST_F(SupervisorTest, OfAForgottenAttemptOnlyTheLogStays) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  std::ofstream(FolderOf(id).log()) << "text\n";
  fate->End({.exit_code = 0});
  AwaitExit();
  supervisor_->Forget(id);
  EXPECT_TRUE(supervisor_->Statuses().empty());
  std::filesystem::directory_iterator entry(FolderOf(id).path());
  EXPECT_EQ(entry->path(), FolderOf(id).log());
  EXPECT_EQ(++entry, std::filesystem::directory_iterator());
  EXPECT_THAT(supervisor_->Prepare(PrepareOf(id)), HasSubstr("comes too late"));
}

TEST_F(SupervisorTest, ForgetDoesNotTouchARankThatRuns) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  supervisor_->Forget(id);
  EXPECT_EQ(supervisor_->Statuses().size(), 1u);
  fate->End({});
}

TEST_F(SupervisorTest, CommandsForAnUnknownRankAreAnsweredByItsEnd) {
  v1::Drain drain;
  *drain.mutable_id() = Rank("job", 1);
  supervisor_->Drain(drain);
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_START_FAILED);
  EXPECT_THAT(status.message(), HasSubstr("no such attempt here"));
}

TEST_F(SupervisorTest, KeysGoToTheServiceAndBack) {
  const auto fate = StartRank(Rank("job", 1));
  v1::FromTrainer wait;
  wait.mutable_key_wait()->set_request(5);
  wait.mutable_key_wait()->set_key("rank1");
  ASSERT_TRUE(trainer_->Send(wait));
  const auto asked = keys_.asked.Take();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->key, "rank1");
  v1::KeyAnswer answer;
  answer.set_request(5);
  answer.set_value("address");
  asked->answer(answer);
  EXPECT_EQ(trainer_->Receive().key_answer().value(), "address");
  fate->End({});
  AwaitExit();
  asked->answer(answer);  // of a rank that is gone: no harm
}

TEST_F(SupervisorTest, CheckpointsAndNotesAreTold) {
  const auto fate = StartRank(Rank("job", 1));
  v1::FromTrainer note;
  note.mutable_note()->set_text("resumed from step 4");
  ASSERT_TRUE(trainer_->Send(note));
  EXPECT_EQ(AwaitState(v1::TaskStatus::STATE_RUNNING).note(), "resumed from step 4");
  v1::FromTrainer checkpoint;
  checkpoint.mutable_checkpoint()->set_path("/c/8");
  checkpoint.mutable_checkpoint()->set_step(8);
  ASSERT_TRUE(trainer_->Send(checkpoint));
  const v1::TaskStatus status = AwaitState(v1::TaskStatus::STATE_CHECKPOINTED);
  EXPECT_EQ(status.checkpoint(), "/c/8");
  EXPECT_EQ(status.checkpoint_step(), 8);
  EXPECT_EQ(status.note(), "");
  fate->End({});
}

TEST_F(SupervisorTest, ProgressComesFromThePageAndTheSteps) {
  const v1::RankId id = Rank("job", 1);
  const auto fate = StartRank(id);
  ProgressPageWriter page(ProgressPagePath(FolderOf(id).path(), 0));
  page.Write({.generation = 1,
              .step = 6,
              .phase = ProgressPhase::kTraining,
              .phase_start_unix_nanos = 0,
              .collective_sequence = 40,
              .allocated_bytes = 123});
  v1::FromTrainer step;
  step.mutable_step()->set_step(6);
  step.mutable_step()->set_loss(2.5);
  ASSERT_TRUE(trainer_->Send(step));
  v1::FromTrainer note;  // told: the step before it was taken
  note.mutable_note();
  ASSERT_TRUE(trainer_->Send(note));
  AwaitState(v1::TaskStatus::STATE_RUNNING);
  const std::vector<v1::RankProgress> progress = supervisor_->Progress();
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0].step(), 6);
  EXPECT_EQ(progress[0].phase(), "training");
  EXPECT_EQ(progress[0].collective_sequence(), 40);
  EXPECT_EQ(progress[0].allocated_bytes(), 123);
  EXPECT_EQ(progress[0].progress().loss(), 2.5);
  fate->End({});
}

TEST_F(SupervisorTest, MemoryIsHeldUntilTheRankIsOver) {
  const auto fate = PrepareRank(Rank("job", 1));
  ASSERT_EQ(supervisor_->Memory().size(), 1u);
  EXPECT_EQ(supervisor_->Memory()[0].budget_bytes, 1000);
  EXPECT_EQ(supervisor_->Memory()[0].pid, 4'000'001);
  fate->End({});
  AwaitExit();
  EXPECT_TRUE(supervisor_->Memory().empty());
}

TEST_F(SupervisorTest, AWorkerThatIsBeingStoppedDrainsAndTakesNothingNew) {
  const auto fate = StartRank(Rank("job", 1));
  supervisor_->DrainAll(10, "this worker is being stopped");
  EXPECT_TRUE(trainer_->Receive().has_stop());
  EXPECT_THAT(supervisor_->Prepare(PrepareOf(Rank("other", 1))), HasSubstr("being stopped"));
  fate->End({.exit_code = 143});
  EXPECT_TRUE(supervisor_->AwaitEnds(kTestPatience));
}

TEST_F(SupervisorTest, AStopWithoutACoordinatorHasItsOwnCause) {
  const auto fate = StartRank(Rank("job", 1));
  supervisor_->DrainOrphans("the coordinator is away");
  ASSERT_TRUE(trainer_->Receive().has_stop());
  v1::FromTrainer end = EndMessage(v1::ATTEMPT_CAUSE_DRAINED);
  end.mutable_end()->mutable_result()->set_stopped(true);
  ASSERT_TRUE(trainer_->Send(end));
  ASSERT_TRUE(trainer_->Receive().has_go());
  fate->End({.exit_code = 143});
  const v1::TaskStatus status = AwaitExit();
  EXPECT_EQ(status.cause(), v1::ATTEMPT_CAUSE_COORDINATOR_ORPHAN);
  EXPECT_TRUE(status.result().stopped());
}

}  // namespace
}  // namespace agoq
