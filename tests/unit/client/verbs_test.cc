#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

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
using ::testing::StartsWith;

// Three jobs in two pages.
Script Listing(std::vector<v1::ListJobsRequest>* requests) {
  return {.list = [requests](const v1::ListJobsRequest& request, v1::ListJobsResponse* response) {
    requests->push_back(request);
    if (request.page_token().empty()) {
      *response->add_jobs() = JobNamed("c", v1::JOB_STATE_RUNNING);
      *response->add_jobs() = JobNamed("b", v1::JOB_STATE_FAILED);
      response->set_next_page_token("2");
    } else {
      *response->add_jobs() = JobNamed("a", v1::JOB_STATE_SUCCEEDED);
    }
    return grpc::Status::OK;
  }};
}

TEST(List, JoinsAllPages) {
  std::vector<v1::ListJobsRequest> requests;
  const ScriptedCoordinator coordinator(Listing(&requests));
  const RunOutcome run = RunAgoq({"job", "list", "-o", "name"}, coordinator.address());
  EXPECT_EQ(run.out, "id-of-c\nid-of-b\nid-of-a\n");
  EXPECT_EQ(requests.size(), 2u);
}

TEST(List, StopsAtItsLimit) {
  std::vector<v1::ListJobsRequest> requests;
  const ScriptedCoordinator coordinator(Listing(&requests));
  EXPECT_EQ(RunAgoq({"job", "list", "-o", "name", "--limit", "1"}, coordinator.address()).out,
            "id-of-c\n");
  EXPECT_EQ(requests.size(), 1u);
}

TEST(List, GivesJsonThatReadsBackAsTheMessage) {
  std::vector<v1::ListJobsRequest> requests;
  const ScriptedCoordinator coordinator(Listing(&requests));
  const RunOutcome run = RunAgoq({"job", "list", "-o", "json"}, coordinator.address());
  v1::ListJobsResponse read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(run.out, &read).ok()) << run.out;
  ASSERT_EQ(read.jobs_size(), 3);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      read.jobs(1), JobNamed("b", v1::JOB_STATE_FAILED)));
  EXPECT_THAT(run.out, HasSubstr("\"checkpoint_step\": \"0\""));  // names and defaults
}

TEST(List, AsksForStatesByTheirWords) {
  std::vector<v1::ListJobsRequest> requests;
  const ScriptedCoordinator coordinator(Listing(&requests));
  RunAgoq({"job", "list", "--state", "queued,failed", "--name", "s"}, coordinator.address());
  EXPECT_THAT(requests.at(0).states(), ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_FAILED));
  EXPECT_EQ(requests.at(0).name_prefix(), "s");
}

TEST(List, PrintsColoursOnlyWhenAsked) {
  std::vector<v1::ListJobsRequest> requests;
  const ScriptedCoordinator coordinator(Listing(&requests));
  EXPECT_THAT(RunAgoq({"job", "list"}, coordinator.address()).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunAgoq({"job", "list", "--color", "always"}, coordinator.address()).out,
              HasSubstr("\x1b[31mfailed\x1b[0m"));
}

TEST(Get, EndsByNotFound) {
  const ScriptedCoordinator coordinator({.get = [](const auto&, auto*) {
    return ToGrpc(ResourceNotFound("job", "a", "see agoq job list"));
  }});
  EXPECT_EQ(RunAgoq({"job", "get", "a"}, coordinator.address()).code, kExitNotFound);
}

TEST(Get, AsksForTheWorkersOfASummary) {
  Script script = {.get = [](const auto&, v1::GetJobResponse* response) {
    *response->mutable_job() = JobNamed("a", v1::JOB_STATE_SUCCEEDED);
    response->mutable_job()->mutable_attempt()->add_placements()->set_worker("worker-0");
    return grpc::Status::OK;
  }};
  script.worker = [](const v1::GetWorkerRequest& request, v1::GetWorkerResponse* response) {
    response->mutable_worker()->set_name(request.name());
    response->mutable_worker()->set_metrics_url("http://127.0.0.1:9402/metrics");
    return grpc::Status::OK;
  };
  const ScriptedCoordinator coordinator(script);
  EXPECT_THAT(RunAgoq({"job", "get", "a", "--summary"}, coordinator.address()).out,
              HasSubstr("rank 0 on worker worker-0: metrics http://127.0.0.1:9402/metrics"));
}

TEST(Events, JoinsAllPages) {
  const ScriptedCoordinator coordinator(
      {.events = [](const v1::ListEventsRequest& request, v1::ListEventsResponse* response) {
        response->add_events()->set_sequence(request.after_sequence() + 1);
        response->set_more(request.after_sequence() < 2);
        return grpc::Status::OK;
      }});
  const RunOutcome run = RunAgoq({"job", "events", "a", "-o", "jsonl"}, coordinator.address());
  EXPECT_THAT(run.out, AllOf(HasSubstr("\"sequence\":\"1\""), HasSubstr("\"sequence\":\"3\"")));
}

Script Logging(v1::TailLogsRequest* last) {
  return {.logs = [last](const v1::TailLogsRequest& request,
                         grpc::ServerWriter<v1::TailLogsResponse>* writer) {
    *last = request;
    v1::TailLogsResponse part;
    part.set_rank(1);
    part.set_text("one\ntwo\n");
    writer->Write(part);
    return grpc::Status::OK;
  }};
}

TEST(Logs, NameTheRankOfEachLine) {
  v1::TailLogsRequest request;
  const ScriptedCoordinator coordinator(Logging(&request));
  EXPECT_EQ(RunAgoq({"job", "logs", "a"}, coordinator.address()).out, "rank 1: one\nrank 1: two\n");
}

TEST(Logs, OfOneRankComeAsTheyWereWritten) {
  v1::TailLogsRequest request;
  const ScriptedCoordinator coordinator(Logging(&request));
  const RunOutcome run = RunAgoq(
      {"job", "logs", "a", "--rank", "1", "--attempt", "2", "--tail", "5"}, coordinator.address());
  EXPECT_EQ(run.out, "one\ntwo\n");
  EXPECT_THAT(request.ranks(), ElementsAre(1));
  EXPECT_EQ(request.generation(), 2);
  EXPECT_EQ(request.tail_lines(), 5);
  EXPECT_FALSE(request.follow());
}

TEST(WorkerList, SaysHowToStartOneWhenThereIsNone) {
  const ScriptedCoordinator coordinator(
      {.workers = [](const auto&, auto*) { return grpc::Status::OK; }});
  const RunOutcome run = RunAgoq({"worker", "list"}, coordinator.address());
  EXPECT_EQ(run.code, kExitDone);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("agoq-worker --coordinator " + coordinator.address()));
}

TEST(Version, ShowsBothSides) {
  const ScriptedCoordinator coordinator({.info = [](const auto&, v1::GetServerInfoResponse* info) {
    info->set_version("9.8.7");
    return grpc::Status::OK;
  }});
  EXPECT_THAT(RunAgoq({"version"}, coordinator.address()).out,
              AllOf(StartsWith("agoq "), HasSubstr("coordinator  9.8.7")));
}

TEST(CommandLine, NamesTheVerbThatWasMeant) {
  const RunOutcome run = RunAgoq({"--timeout", "1", "job", "submti", "a.yaml"});
  EXPECT_EQ(run.code, kExitUsage);
  EXPECT_EQ(run.err,
            "agoq: 'submti' is no verb; did you mean submit?\nagoq: see agoq job --help\n");
}

TEST(CommandLine, RefusesAFormatThatTheVerbLacks) {
  const RunOutcome run = RunAgoq({"job", "watch", "a", "-o", "yaml"});
  EXPECT_EQ(run.code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("yaml"));
}

TEST(CommandLine, HelpGoesToStandardOutput) {
  const RunOutcome run = RunAgoq({"job", "wait", "--help"});
  EXPECT_EQ(run.code, kExitDone);
  EXPECT_THAT(run.out, HasSubstr("--for"));
  EXPECT_THAT(run.err, IsEmpty());
}

}  // namespace
}  // namespace agoq
