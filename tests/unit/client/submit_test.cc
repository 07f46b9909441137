#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "client/exit_codes.h"
#include "proto/common/grpc_status.h"
#include "proto/common/plan_codec.h"
#include "proto/common/status.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/client/scripted_coordinator.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kJobFile = std::string(AGOQ_EXAMPLES) + "/shakespeare.yaml";

// A coordinator that accepts jobs and keeps the last request.
Script Accepting(v1::SubmitJobRequest* last) {
  return {.submit = [last](const v1::SubmitJobRequest& request, v1::SubmitJobResponse* response) {
    *last = request;
    *response->mutable_job() = JobNamed(request.spec().name(), v1::JOB_STATE_QUEUED);
    return grpc::Status::OK;
  }};
}

Script Refusing(const absl::Status& status) {
  return {.submit = [status](const auto&, auto*) { return ToGrpc(status); }};
}

TEST(Submit, TellsNameAndId) {
  v1::SubmitJobRequest request;
  const ScriptedCoordinator coordinator(Accepting(&request));
  const RunOutcome run = RunAgoq({"job", "submit", kJobFile}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone) << run.err;
  EXPECT_EQ(run.out, "job shakespeare submitted (id-of-shakespeare)\n");
  EXPECT_THAT(request.request_id(), SizeIs(36));
}

TEST(Submit, PrintsTheIdAloneForScripts) {
  v1::SubmitJobRequest request;
  const ScriptedCoordinator coordinator(Accepting(&request));
  EXPECT_EQ(RunAgoq({"job", "submit", kJobFile, "-o", "name"}, coordinator.address()).out,
            "id-of-shakespeare\n");
}

TEST(Submit, SendsPathsThatHoldInOtherFolders) {
  v1::SubmitJobRequest request;
  const ScriptedCoordinator coordinator(Accepting(&request));
  RunAgoq({"job", "submit", kJobFile}, coordinator.address());
  EXPECT_THAT(request.spec().data().path(), StartsWith("/"));
  EXPECT_THAT(request.spec().checkpoint().uri(), StartsWith("/"));
}

TEST(Submit, ReadsAJobFromStandardInput) {
  v1::SubmitJobRequest request;
  const ScriptedCoordinator coordinator(Accepting(&request));
  const std::string job =
      "name: piped\nmodel: {vocab_size: 8, hidden_size: 8, intermediate_size: 8,"
      " num_hidden_layers: 1, num_attention_heads: 1}\ndata: {path: tokens}\n"
      "plan: {mode: fixed, table: full}\nsteps: {total: 1, sequence_length: 8}\n";
  const RunOutcome run = RunAgoq({"job", "submit", "-"}, coordinator.address(), job);
  EXPECT_EQ(run.code, kExitDone) << run.err;
  EXPECT_EQ(request.spec().data().path(), (std::filesystem::current_path() / "tokens").string());
}

TEST(Submit, TriesAgainWithTheSameRequestWhenTheCoordinatorIsAway) {
  std::vector<std::string> ids;
  const ScriptedCoordinator coordinator(
      {.submit = [&](const v1::SubmitJobRequest& request, v1::SubmitJobResponse* response) {
        ids.push_back(request.request_id());
        if (ids.size() < 3) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "is starting");
        *response->mutable_job() = JobNamed("a", v1::JOB_STATE_QUEUED);
        return grpc::Status::OK;
      }});
  EXPECT_EQ(RunAgoq({"job", "submit", kJobFile}, coordinator.address()).code, kExitDone);
  EXPECT_THAT(ids, SizeIs(3));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(1));
}

TEST(Submit, GivesUpOnAnAbsentCoordinatorWhenTheTimeIsOver) {
  const ScriptedCoordinator coordinator(Refusing(absl::UnavailableError("shutting down")));
  const RunOutcome run =
      RunAgoq({"job", "submit", kJobFile, "--timeout", "0.5"}, coordinator.address());
  EXPECT_EQ(run.code, kExitUnreachable);
  EXPECT_THAT(run.err, HasSubstr("coordinator at " + coordinator.address() + ": shutting down"));
}

TEST(Submit, UsesTheRequestIdThatIsGiven) {
  v1::SubmitJobRequest request;
  const ScriptedCoordinator coordinator(Accepting(&request));
  const std::string id = "0a1b2c3d-0000-4000-8000-00000000000f";
  RunAgoq({"job", "submit", kJobFile, "--request-id", id, "--allow-unsatisfiable"},
          coordinator.address());
  EXPECT_EQ(request.request_id(), id);
  EXPECT_TRUE(request.allow_unsatisfiable());
}

TEST(Submit, RefusesARequestIdThatIsNoUuid) {
  const RunOutcome run = RunAgoq({"job", "submit", kJobFile, "--request-id", "mine"});
  EXPECT_EQ(run.code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("'mine' is no UUID"));
}

TEST(Submit, NamesEveryBadLineOfAJobFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.yaml") << "name: bad\noptimizer:\n  learning_rat: 1e-4\nsteps:\n"
                                        "  total: -1\n";
  const RunOutcome run = RunAgoq({"job", "submit", folder / "bad.yaml"});
  EXPECT_EQ(run.code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("bad.yaml:3: optimizer.learning_rat"));
  EXPECT_THAT(run.err, HasSubstr("learning_rate"));
  EXPECT_THAT(run.err, HasSubstr("bad.yaml:5: steps.total: -1"));
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Submit, NamesAJobFileThatIsNotThere) {
  const RunOutcome run = RunAgoq({"job", "submit", "no/such.yaml"});
  EXPECT_EQ(run.code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("no/such.yaml"));
}

TEST(Submit, PrintsAllDetailsOfARefusal) {
  const ScriptedCoordinator coordinator(Refusing(PreconditionFailed(
      "no set of workers can hold the job", {{"MEMORY", "worker-0", "needs 9 bytes, has 8"},
                                             {"MEMORY", "worker-1", "needs 9 bytes, has 7"}})));
  const RunOutcome run = RunAgoq({"job", "submit", kJobFile}, coordinator.address());
  EXPECT_EQ(run.code, kExitFailed);
  EXPECT_EQ(run.err,
            "agoq: no set of workers can hold the job\n"
            "  worker-0: needs 9 bytes, has 8\n"
            "  worker-1: needs 9 bytes, has 7\n");
}

TEST(Submit, EndsByTheCodeOfTheRefusal) {
  const std::vector<std::pair<absl::Status, int>> cases = {
      {InvalidFields("bad", {{"steps.total", "-1: must be 0 or more"}}), kExitUsage},
      {ResourceExists("job", "a", "use another name"), kExitFailed},
      {absl::ResourceExhaustedError("queue is full"), kExitFailed},
      {absl::UnauthenticatedError("who are you"), kExitNotAllowed},
      {absl::PermissionDeniedError("not you"), kExitNotAllowed},
      {absl::DeadlineExceededError("too slow"), kExitUnreachable}};
  for (const auto& [status, code] : cases) {
    const ScriptedCoordinator coordinator(Refusing(status));
    EXPECT_EQ(RunAgoq({"job", "submit", kJobFile}, coordinator.address()).code, code) << status;
  }
}

TEST(Submit, TellsWarningsOfTheCoordinatorOnStandardError) {
  const ScriptedCoordinator coordinator(
      {.submit = [](const auto&, v1::SubmitJobResponse* response) {
        response->add_warnings("q at 4 bits breaks training");
        return grpc::Status::OK;
      }});
  const RunOutcome run = RunAgoq({"job", "submit", kJobFile, "-o", "json"}, coordinator.address());
  EXPECT_EQ(run.err, "agoq: warning: q at 4 bits breaks training\n");
  EXPECT_THAT(RunAgoq({"-q", "job", "submit", kJobFile}, coordinator.address()).err, IsEmpty());
}

TEST(Submit, WaitsForTheEndWhenAsked) {
  Script script = {.submit = [](const auto&, v1::SubmitJobResponse* response) {
    *response->mutable_job() = JobNamed("a", v1::JOB_STATE_QUEUED);
    return grpc::Status::OK;
  }};
  std::string watched;
  script.watch = [&](const v1::WatchJobRequest& request, auto* writer) {
    watched = request.job();
    v1::WatchJobResponse update;
    *update.mutable_job() = JobNamed("a", v1::JOB_STATE_FAILED);
    writer->Write(update);
    return grpc::Status::OK;
  };
  const ScriptedCoordinator coordinator(script);
  EXPECT_EQ(RunAgoq({"job", "submit", kJobFile, "--wait"}, coordinator.address()).code,
            kExitFailed);
  EXPECT_EQ(watched, "id-of-a");
}

Script Planning() {
  return {.plan = [](const auto&, v1::PlanJobResponse* response) {
    *response->mutable_plan() = EncodePlan(UniformPlan(PaperLayer(), 2, 2));
    response->set_message("worker-1 is busy");
    return grpc::Status::OK;
  }};
}

TEST(Plan, GivesJsonThatServesAsAFixedPlan) {
  const ScriptedCoordinator coordinator(Planning());
  const RunOutcome run = RunAgoq({"job", "plan", kJobFile, "-o", "json"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone) << run.err;
  const DecodedPlan decoded = PlanFromJson(run.out, "plan");
  EXPECT_THAT(decoded.errors, IsEmpty());
  EXPECT_EQ(EncodePlan(decoded.plan).SerializeAsString(),
            EncodePlan(UniformPlan(PaperLayer(), 2, 2)).SerializeAsString());
}

TEST(Plan, TellsWhyAJobWouldWait) {
  const ScriptedCoordinator coordinator(Planning());
  EXPECT_THAT(RunAgoq({"job", "plan", kJobFile}, coordinator.address()).err,
              HasSubstr("does not fit now: worker-1 is busy"));
}

TEST(Submit, ADryRunPlansAndSubmitsNothing) {
  const ScriptedCoordinator coordinator(Planning());  // a submit would be UNIMPLEMENTED
  const RunOutcome run =
      RunAgoq({"job", "submit", kJobFile, "--dry-run", "-o", "json"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"ranks\""));
}

}  // namespace
}  // namespace agoq
