// What agoq-trainer does when all is well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/trainer_process.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TrainerCli : public ::testing::Test {
 protected:
  void SetUp() override { folder_.Tokenize(); }

  nlohmann::json RunForResult(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--result", "result.json"});
    const Outcome outcome = folder_.Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? nlohmann::json::parse(folder_.Read("result.json"))
                                  : nlohmann::json();
  }

  TrainerFolder folder_;
};

TEST_F(TrainerCli, TokenizesATextIntoTwoParts) {
  EXPECT_THAT(folder_.Names(), ElementsAre("text.txt", "text_train.bin", "text_train.idx",
                                           "text_valid.bin", "text_valid.idx"));
  EXPECT_EQ(folder_.Read("text_train.bin").size(), 2u * 3600);
}

TEST_F(TrainerCli, TellsItsVersion) {
  EXPECT_THAT(folder_.Run({"--version"}).out, StartsWith("agoq-trainer "));
}

TEST_F(TrainerCli, TrainsAJobAndWritesItsResult) {
  folder_.WriteJob({});
  const nlohmann::json result = RunForResult({"run", "job.yaml"});
  EXPECT_EQ(result["steps"], 6);
  EXPECT_EQ(result["losses"].size(), 6u);
  EXPECT_GT(result["validation"]["loss"], 0);
  EXPECT_EQ(result["validation"]["tokens"], 399);
  EXPECT_GT(result["peak_bytes"]["total"], 0);
  EXPECT_GT(result["predicted_bytes"]["total"], 0);
}

TEST_F(TrainerCli, WritesPlainLinesWhereThereIsNoTerminal) {
  folder_.WriteJob({});
  const Outcome outcome = folder_.Run({"run", "job.yaml"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("step 6/6"), Not(HasSubstr("\r"))));
  EXPECT_THAT(outcome.out, HasSubstr("held-out loss"));
}

TEST_F(TrainerCli, TrainsOnTwoLocalProcesses) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  const nlohmann::json result = RunForResult({"run", "job.yaml", "--local-processes", "2"});
  EXPECT_EQ(result["ranks"], 2);
  EXPECT_EQ(result["rank_memory"].size(), 2u);
  EXPECT_GT(result["bytes_sent"], 0);
}

TEST_F(TrainerCli, TrainsOnRanksThatAreStartedOneByOne) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  TrainerProcess first({"run", "job.yaml", "--rank", "0", "--world", "2", "--rendezvous", "meet"},
                       folder_.path());
  TrainerProcess second({"run", "job.yaml", "--rank", "1", "--world", "2", "--rendezvous", "meet"},
                        folder_.path());
  EXPECT_EQ(first.Wait().exit_code, 0);
  EXPECT_EQ(second.Wait().exit_code, 0);
}

TEST_F(TrainerCli, RefusesRanksThatWouldResumeAtDifferentSteps) {
  folder_.WriteJob({.mesh = "{data: 2}"});
  ASSERT_EQ(folder_.Run({"run", "job.yaml", "--local-processes", "2"}).exit_code, 0);
  const std::string longer = "{total: 9, sequence_length: 16, micro_batch_size: 2}";
  folder_.WriteJob("here.yaml", {.mesh = "{data: 2}", .steps = longer, .more = "name: split"});
  folder_.WriteJob("there.yaml", {.mesh = "{data: 2}",
                                  .steps = longer,
                                  .checkpoint = "{uri: elsewhere}",
                                  .more = "name: split"});
  TrainerProcess first({"run", "here.yaml", "--rank", "0", "--world", "2", "--rendezvous", "meet"},
                       folder_.path());
  TrainerProcess second(
      {"run", "there.yaml", "--rank", "1", "--world", "2", "--rendezvous", "meet"}, folder_.path());
  for (TrainerProcess* rank : {&first, &second}) {
    const Outcome outcome = rank->Wait();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("rank 0 goes on at step 6, rank 1 at step 0"));
  }
}

TEST_F(TrainerCli, TakesEachNamedPolicyInPlaceOfTheJobsPlan) {
  folder_.WriteJob(
      {.plan = "{mode: fixed, table: full, error_sample_interval: 1}", .checkpoint = "{}"});
  EXPECT_THAT(RunForResult({"run", "job.yaml"})["errors"], Not(Contains(HasSubstr("x1"))));
  const nlohmann::json paper = RunForResult({"run", "job.yaml", "--policy", "paper"});
  EXPECT_GT(paper["errors"]["x1"]["ratio"], 0.02);
  EXPECT_EQ(RunForResult({"run", "job.yaml", "--policy", "recompute"})["steps"], 6);
}

TEST_F(TrainerCli, TakesAPolicyFile) {
  folder_.WriteJob({.checkpoint = "{}"});
  folder_.Write("plan.json", R"({"ranks": [{"rank": 0, "layers": [
      {"layer": 0, "sites": [{"site": "up", "kind": "PACKED", "format": "int8"}]}, {"layer": 1}]}]})");
  EXPECT_EQ(RunForResult({"run", "job.yaml", "--policy", "plan.json"})["steps"], 6);
}

TEST_F(TrainerCli, GoesOnFromTheNewestCheckpoint) {
  folder_.WriteJob("short.yaml", {.steps = "{total: 4, sequence_length: 16, micro_batch_size: 2}"});
  folder_.WriteJob("long.yaml", {});
  RunForResult({"run", "short.yaml"});
  const nlohmann::json result = RunForResult({"run", "long.yaml"});
  EXPECT_EQ(result["first_step"], 4);
  EXPECT_EQ(result["steps"], 6);
  EXPECT_EQ(result["losses"].size(), 2u);
}

TEST_F(TrainerCli, EvaluatesACheckpointToTheLossOfTheRun) {
  folder_.WriteJob({});
  const nlohmann::json result = RunForResult({"run", "job.yaml"});
  const Outcome outcome = folder_.Run({"eval", "saves", "--data", "text_valid"});
  char expected[64];
  std::snprintf(expected, sizeof(expected), "loss %.4f nats per token over 399 tokens",
                result["validation"]["loss"].get<double>());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(expected));
}

TEST_F(TrainerCli, GeneratesTheSameTextForTheSameSeed) {
  folder_.WriteJob({});
  RunForResult({"run", "job.yaml"});
  const std::vector<std::string> arguments = {"generate", "saves", "--prompt", "to be",
                                              "--tokens", "20",    "--seed",   "3"};
  const Outcome outcome = folder_.Run(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("to be"));
  EXPECT_EQ(outcome.out, folder_.Run(arguments).out);
}

}  // namespace
}  // namespace agoq
