#include "worker/trainer/prepared_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/common/plan_codec.h"
#include "tests/unit/trainer/temporary_folder.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kModel[] =
    "model: {vocab_size: 256, hidden_size: 16, intermediate_size: 32, num_hidden_layers: 2, "
    "num_attention_heads: 2}\n";
constexpr char kRest[] =
    "data: {path: train}\nmesh: {data: 2}\nsteps: {total: 4, sequence_length: 8}\n";
constexpr char kPlan[] = "plan: {mode: fixed, table: full}\n";

class PreparedJobTest : public ::testing::Test {
 protected:
  std::string Job(const std::string& text) { return folder_.File("job.yaml", text); }
  std::string GoodJob() { return Job(std::string(kModel) + kRest + kPlan); }

  std::string ProblemOf(const std::string& path, const std::string& policy = "") {
    try {
      PrepareJob(path, policy);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(PreparedJobTest, ReadsAGoodJob) {
  const PreparedJob job = PrepareJob(GoodJob(), "");
  EXPECT_EQ(job.num_ranks, 2);
  EXPECT_EQ(job.options.job_name, "job");
  EXPECT_THAT(job.plan_table, HasSubstr("full"));
  EXPECT_THAT(job.warnings, IsEmpty());
}

TEST_F(PreparedJobTest, NamesEveryErrorOfAFileAtOnce) {
  EXPECT_THAT(ProblemOf(Job(std::string(kModel) + kRest + kPlan +
                            "optimiser: {}\ncheckpoint: {keep: -1}\n")),
              AllOf(HasSubstr("optimiser"), HasSubstr("optimizer"), HasSubstr("checkpoint.keep"),
                    HasSubstr("-1")));
}

TEST_F(PreparedJobTest, NamesAMissingFile) {
  EXPECT_THAT(ProblemOf((folder_.path() / "none.yaml").string()), HasSubstr("none.yaml"));
}

TEST_F(PreparedJobTest, ReplacesThePlanByANamedPolicy) {
  const PreparedJob job = PrepareJob(GoodJob(), "paper");
  EXPECT_EQ(job.options.plan.ranks[1].layers[1].sites, PaperLayer().sites);
}

TEST_F(PreparedJobTest, NeedsNoPlanInTheFileWhenAPolicyIsGiven) {
  const std::string path = Job(std::string(kModel) + kRest + "plan: {mode: fixed}\n");
  EXPECT_THAT(ProblemOf(path), HasSubstr("plan.table"));
  EXPECT_EQ(PrepareJob(path, "recompute").options.plan.ranks[0].layers[0].sites,
            RecomputeLayer().sites);
}

TEST_F(PreparedJobTest, TellsOtherErrorsWhenAPolicyIsGiven) {
  EXPECT_THAT(ProblemOf(Job(std::string(kModel) + kRest + "nmae: x\n"), "full"),
              AllOf(HasSubstr("nmae"), Not(HasSubstr("plan.mode"))));
}

TEST_F(PreparedJobTest, ReadsAPolicyFile) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kGate) = {PolicyKind::kPacked, {Format::kInt8, 64}};
  const std::string plan = folder_.File("plan.json", PlanToJson(UniformPlan(layer, 2, 2)));
  EXPECT_EQ(PrepareJob(GoodJob(), plan).options.plan.ranks[1].layers[0].sites, layer.sites);
}

TEST_F(PreparedJobTest, RefusesAPolicyOfAnotherModel) {
  const std::string plan = folder_.File("plan.json", PlanToJson(UniformPlan(FullLayer(), 3, 2)));
  EXPECT_THAT(ProblemOf(GoodJob(), plan), AllOf(HasSubstr("plan.json"), HasSubstr("has 3 layers")));
}

TEST_F(PreparedJobTest, RefusesAPolicyThatIsNoFile) {
  EXPECT_THAT(ProblemOf(GoodJob(), "papper"), AllOf(HasSubstr("papper"), HasSubstr("paper")));
}

TEST_F(PreparedJobTest, PassesOnWarningsOfAPolicy) {
  LayerPlan layer = FullLayer();
  layer.at(Site::kQ) = {PolicyKind::kPacked, {Format::kNf4, 128}};
  const std::string plan = folder_.File("plan.json", PlanToJson(UniformPlan(layer, 2, 2)));
  EXPECT_THAT(PrepareJob(GoodJob(), plan).warnings, Not(IsEmpty()));
}

TEST_F(PreparedJobTest, GivesEveryCopyOfAJobOneRunId) {
  TemporaryFolder other;
  const std::string text = std::string(kModel) + kRest + kPlan;
  EXPECT_EQ(PrepareJob(GoodJob(), "").run_id, PrepareJob(other.File("job.yaml", text), "").run_id);
}

TEST_F(PreparedJobTest, GivesDifferentJobsDifferentRunIds) {
  EXPECT_NE(PrepareJob(GoodJob(), "").run_id, PrepareJob(GoodJob(), "paper").run_id);
}

}  // namespace
}  // namespace agoq
