#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "client/exit_codes.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "tests/unit/client/scripted_coordinator.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using WatchWriter = grpc::ServerWriter<v1::WatchJobResponse>;

v1::WatchJobResponse Update(v1::JobState state) {
  v1::WatchJobResponse update;
  *update.mutable_job() = JobNamed("a", state);
  return update;
}

v1::WatchJobResponse EventUpdate(v1::JobState state, std::int64_t sequence) {
  v1::WatchJobResponse update = Update(state);
  update.mutable_event()->set_sequence(sequence);
  update.mutable_event()->set_kind("started");
  update.mutable_event()->set_message("attempt 1");
  return update;
}

// A stream of these updates.
Script Watching(const std::vector<v1::WatchJobResponse>& updates) {
  return {.watch = [updates](const auto&, WatchWriter* writer) {
    for (const v1::WatchJobResponse& update : updates) writer->Write(update);
    return grpc::Status::OK;
  }};
}

TEST(Wait, EndsByTheStateOfTheJob) {
  const std::vector<std::pair<v1::JobState, int>> cases = {
      {v1::JOB_STATE_SUCCEEDED, kExitDone},
      {v1::JOB_STATE_FAILED, kExitFailed},
      {v1::JOB_STATE_CANCELLED, kExitCancelled}};
  for (const auto& [state, code] : cases) {
    const ScriptedCoordinator coordinator(Watching({Update(v1::JOB_STATE_RUNNING), Update(state)}));
    EXPECT_EQ(RunAgoq({"job", "wait", "a"}, coordinator.address()).code, code);
  }
}

TEST(Wait, EndsWhenTheJobRunsIfAskedFor) {
  const ScriptedCoordinator coordinator({.watch = [](const auto&, WatchWriter* writer) {
    writer->Write(Update(v1::JOB_STATE_STARTING));
    WriteUntilCancelled(Update(v1::JOB_STATE_RUNNING), writer);
    return grpc::Status::OK;
  }});
  EXPECT_EQ(RunAgoq({"job", "wait", "a", "--for", "running"}, coordinator.address()).code,
            kExitDone);
}

TEST(Wait, HasAnExitCodeOfItsOwnForTimeOut) {
  const ScriptedCoordinator coordinator({.watch = [](const auto&, WatchWriter* writer) {
    WriteUntilCancelled(Update(v1::JOB_STATE_RUNNING), writer);
    return grpc::Status::OK;
  }});
  const RunOutcome run = RunAgoq({"job", "wait", "a", "--timeout", "0.3"}, coordinator.address());
  EXPECT_EQ(run.code, kExitWaitTimedOut);
  EXPECT_THAT(run.err, AllOf(HasSubstr("job a (id-of-a) is running after 0.3 s"),
                             HasSubstr("agoq job cancel id-of-a")));
}

TEST(Wait, NamesAJobThatIsNotThere) {
  const ScriptedCoordinator coordinator({.watch = [](const auto&, WatchWriter*) {
    return ToGrpc(ResourceNotFound("job", "a", "see agoq job list"));
  }});
  const RunOutcome run = RunAgoq({"job", "wait", "a"}, coordinator.address());
  EXPECT_EQ(run.code, kExitNotFound);
  EXPECT_EQ(run.err, "agoq: job a: there is none; see agoq job list\n");
}

TEST(Watch, ShowsStatesAndEventsAsTheyCome) {
  const ScriptedCoordinator coordinator(
      Watching({Update(v1::JOB_STATE_QUEUED), EventUpdate(v1::JOB_STATE_RUNNING, 3),
                Update(v1::JOB_STATE_SUCCEEDED)}));
  const RunOutcome run = RunAgoq({"job", "watch", "a"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone);
  EXPECT_EQ(run.out,
            "a: queued\n"
            "00:00:00Z  started  attempt 1\n"
            "a: running\n"
            "a: succeeded\n");
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(Watch, ShowsProgressOnStandardError) {
  v1::WatchJobResponse update = Update(v1::JOB_STATE_RUNNING);
  v1::JobProgress& progress = *update.mutable_job()->mutable_status()->mutable_progress();
  progress.set_step(50);
  progress.set_total_steps(200);
  progress.set_done_ratio(0.25);
  progress.set_loss(2.5);
  progress.set_tokens_per_second(14200);
  progress.set_seconds_left(75);
  const ScriptedCoordinator coordinator(Watching({update, Update(v1::JOB_STATE_SUCCEEDED)}));
  const RunOutcome run = RunAgoq({"job", "watch", "a"}, coordinator.address());
  EXPECT_EQ(run.err,
            "[#####...............] 25%  step 50/200  loss 2.5000  14.2k tok/s  left 1:15\n");
}

TEST(Watch, WritesOneJsonLineForEachUpdate) {
  const ScriptedCoordinator coordinator(
      Watching({EventUpdate(v1::JOB_STATE_RUNNING, 3), Update(v1::JOB_STATE_SUCCEEDED)}));
  const RunOutcome run = RunAgoq({"job", "watch", "a", "-o", "jsonl"}, coordinator.address());
  std::istringstream lines(run.out);
  std::vector<v1::JobState> states;
  for (std::string line; std::getline(lines, line);) {
    v1::WatchJobResponse update;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &update).ok()) << line;
    states.push_back(update.job().status().state());
  }
  EXPECT_THAT(states, ElementsAre(v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED));
}

TEST(Watch, GoesOnFromTheLastEventWhenTheCoordinatorComesBack) {
  std::vector<v1::WatchJobRequest> requests;
  const ScriptedCoordinator coordinator(
      {.watch = [&](const v1::WatchJobRequest& request, WatchWriter* writer) {
        requests.push_back(request);
        if (requests.size() == 1) {
          writer->Write(EventUpdate(v1::JOB_STATE_RUNNING, 7));
          return grpc::Status(grpc::StatusCode::UNAVAILABLE, "shutting down");
        }
        writer->Write(Update(v1::JOB_STATE_SUCCEEDED));
        return grpc::Status::OK;
      }});
  const RunOutcome run = RunAgoq({"job", "watch", "a"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone);
  EXPECT_THAT(run.err, HasSubstr("lost the coordinator at " + coordinator.address()));
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1].job(), "id-of-a");
  EXPECT_EQ(requests[1].after_sequence(), 7);
}

TEST(Watch, DetachesAtCtrlCAndSaysHowToCancel) {
  bool was_stopped = false;
  Script script = {.watch = [](const auto&, WatchWriter* writer) {
    writer->Write(Update(v1::JOB_STATE_RUNNING));
    ::kill(::getpid(), SIGINT);
    WriteUntilCancelled(Update(v1::JOB_STATE_RUNNING), writer);
    return grpc::Status::OK;
  }};
  script.stop = [&](const auto&, auto*) {
    was_stopped = true;
    return grpc::Status::OK;
  };
  const ScriptedCoordinator coordinator(script);
  const RunOutcome run = RunAgoq({"job", "watch", "id-of-a"}, coordinator.address());
  EXPECT_EQ(run.code, kExitInterrupted);
  EXPECT_THAT(run.err, AllOf(HasSubstr("goes on"), HasSubstr("agoq job cancel id-of-a")));
  EXPECT_FALSE(was_stopped);
}

TEST(Logs, DetachAtCtrlC) {
  const ScriptedCoordinator coordinator(
      {.logs = [](const auto&, grpc::ServerWriter<v1::TailLogsResponse>* writer) {
        v1::TailLogsResponse part;
        part.set_text("a line\n");
        writer->Write(part);
        ::kill(::getpid(), SIGINT);
        while (writer->Write(part)) {
        }
        return grpc::Status::OK;
      }});
  const RunOutcome run = RunAgoq({"job", "logs", "a", "-f"}, coordinator.address());
  EXPECT_EQ(run.code, kExitInterrupted);
  EXPECT_THAT(run.err, HasSubstr("agoq job cancel a"));
}

Script Stopping(v1::StopJobRequest* last, v1::JobState end) {
  Script script = Watching({Update(v1::JOB_STATE_STOPPING), Update(end)});
  script.stop = [last](const v1::StopJobRequest& request, v1::StopJobResponse* response) {
    *last = request;
    *response->mutable_job() = JobNamed("a", v1::JOB_STATE_STOPPING);
    response->mutable_job()->mutable_status()->set_target(v1::JOB_STATE_CANCELLED);
    return grpc::Status::OK;
  };
  return script;
}

TEST(Cancel, AsksForAStopWithACheckpoint) {
  v1::StopJobRequest request;
  const ScriptedCoordinator coordinator(Stopping(&request, v1::JOB_STATE_CANCELLED));
  const RunOutcome run =
      RunAgoq({"job", "cancel", "a", "--mode", "drain", "--deadline", "20"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone);
  EXPECT_EQ(run.out, "a: stopping to be cancelled\n");
  EXPECT_EQ(request.mode(), v1::StopJobRequest::MODE_DRAIN);
  EXPECT_EQ(request.deadline_seconds(), 20);
}

TEST(Cancel, IsDoneOnceTheJobIsCancelled) {
  v1::StopJobRequest request;
  const ScriptedCoordinator coordinator(Stopping(&request, v1::JOB_STATE_CANCELLED));
  EXPECT_EQ(RunAgoq({"job", "cancel", "a", "--wait"}, coordinator.address()).code, kExitDone);
  EXPECT_EQ(request.mode(), v1::StopJobRequest::MODE_CANCEL);
}

TEST(Kill, AsksForAStopAtOnce) {
  v1::StopJobRequest request;
  const ScriptedCoordinator coordinator(Stopping(&request, v1::JOB_STATE_FAILED));
  EXPECT_EQ(RunAgoq({"job", "kill", "a", "--wait"}, coordinator.address()).code, kExitFailed);
  EXPECT_EQ(request.mode(), v1::StopJobRequest::MODE_KILL);
}

}  // namespace
}  // namespace agoq
