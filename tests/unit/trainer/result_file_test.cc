#include "worker/trainer/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/unit/trainer/temporary_folder.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

TrainReport Report() {
  TrainReport report;
  report.steps = 3;
  report.losses = {5.5, 4.25, 3.125};
  report.tokens_per_second = 1000;
  report.validation = EvaluationReport{.loss = 3.5, .tokens = 77};
  report.peak_by_label = {{"weights", 100}, {"x1", 20}};
  report.predicted_by_label = {{"weights", 100}, {"x1", 21}};
  report.ranks = {{.peak_bytes = 120, .predicted_bytes = 121, .uncounted_bytes = 9}};
  report.errors = {{.site = "x1", .ratio = 0.09, .worst_layer = 2, .worst_ratio = 0.1}};
  report.checkpoint = "saves/step-00000003";
  return report;
}

nlohmann::json JsonOf(const TrainReport& report) {
  return nlohmann::json::parse(ResultJson({.job_name = "demo"}, report));
}

TEST(ResultFile, HoldsStepsLossesAndHeldOutLoss) {
  const nlohmann::json json = JsonOf(Report());
  EXPECT_EQ(json["job"], "demo");
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["losses"], (std::vector<double>{5.5, 4.25, 3.125}));
  EXPECT_EQ(json["final_loss"], 3.125);
  EXPECT_EQ(json["validation"]["loss"], 3.5);
  EXPECT_EQ(json["validation"]["tokens"], 77);
}

TEST(ResultFile, HoldsBytesByLabelWithTheirSum) {
  const nlohmann::json json = JsonOf(Report());
  EXPECT_EQ(json["peak_bytes"]["x1"], 20);
  EXPECT_EQ(json["peak_bytes"]["total"], 120);
  EXPECT_EQ(json["predicted_bytes"]["total"], 121);
  EXPECT_EQ(json["rank_memory"][0]["uncounted_bytes"], 9);
}

TEST(ResultFile, HoldsErrorsBySite) {
  const nlohmann::json json = JsonOf(Report());
  EXPECT_EQ(json["errors"]["x1"]["ratio"], 0.09);
  EXPECT_EQ(json["errors"]["x1"]["worst_layer"], 2);
}

TEST(ResultFile, WritesNullForWhatIsNotThere) {
  const nlohmann::json json = JsonOf({});
  EXPECT_TRUE(json["validation"].is_null());
  EXPECT_TRUE(json["final_loss"].is_null());
  EXPECT_TRUE(json["checkpoint"].is_null());
}

TEST(ResultFile, WritesNullForALossThatIsNoNumber) {
  TrainReport report;
  report.losses = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_TRUE(JsonOf(report)["losses"][1].is_null());
}

TEST(ResultFile, ReplacesAnOlderFileAndLeavesNothingElse) {
  TemporaryFolder folder;
  const std::string path = folder.File("result.json", "old");
  WriteResultFile(path, "new");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(SummaryText, TellsLossSpeedMemoryAndCheckpoint) {
  const std::string text = SummaryText(Report());
  EXPECT_THAT(text, HasSubstr("done: step 3, loss 3.1250, 1000 tokens/s"));
  EXPECT_THAT(text, HasSubstr("held-out loss: 3.5000 nats per token over 77 tokens"));
  EXPECT_THAT(text, HasSubstr("memory of rank 0"));
  EXPECT_THAT(text, HasSubstr("checkpoint: saves/step-00000003"));
}

TEST(SummaryText, SaysThatARunWasStopped) {
  TrainReport report = Report();
  report.stopped = true;
  EXPECT_THAT(SummaryText(report), HasSubstr("stopped after step 3"));
}

}  // namespace
}  // namespace agoq
