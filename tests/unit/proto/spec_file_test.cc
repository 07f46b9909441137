// Job files on disk: the examples, config.json and plans beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/common/job_checks.h"
#include "proto/common/job_plan.h"
#include "proto/common/plan_codec.h"
#include "proto/common/spec.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SpecFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("agoq-spec-") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  static std::vector<std::string> Errors(const fs::path& path) {
    std::vector<std::string> texts;
    for (const SpecError& error : ReadJobFile(path).errors) texts.push_back(ToText(error));
    return texts;
  }

  fs::path folder_;
};

constexpr const char* kConfig = R"({"model_type": "llama", "vocab_size": 256, "hidden_size": 64,
  "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4})";
constexpr const char* kJob = R"(model: {config: config.json}
data: {path: tokens}
plan: {mode: fixed, table: full}
steps: {total: 10, sequence_length: 32}
)";

TEST_F(SpecFile, EveryExampleIsValid) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(AGOQ_EXAMPLES)) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_THAT(Errors(entry.path()), IsEmpty()) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 1);
}

TEST_F(SpecFile, ShakespeareExampleIsTheDemo) {
  const v1::JobSpec job = ReadJobFile(fs::path(AGOQ_EXAMPLES) / "shakespeare.yaml").job;
  const ModelShape shape = ShapeFromSpec(job.model());
  EXPECT_EQ(shape.hidden_size, 128);
  EXPECT_EQ(shape.num_layers, 4);
  EXPECT_EQ(shape.num_heads, 4);
  EXPECT_EQ(shape.ffn_size, 344);
  EXPECT_EQ(shape.vocab_size, 256);
  EXPECT_EQ(NumRanks(job) * job.steps().micro_batch_size() * job.steps().micro_batches(), 16);
  EXPECT_EQ(job.steps().sequence_length(), 128);
  EXPECT_EQ(job.steps().max_seconds(), 100);
  EXPECT_EQ(job.optimizer().learning_rate(), 3e-3);
  EXPECT_EQ(job.optimizer().warmup_steps(), 50);
  EXPECT_EQ(job.plan().mode(), v1::PlanSpec::MODE_AUTO);
}

TEST_F(SpecFile, InlinesTheModelConfiguration) {
  Write("config.json", kConfig);
  const JobReading reading = ReadJobFile(Write("job.yaml", kJob));
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_EQ(reading.job.model().config(), "");
  EXPECT_EQ(reading.job.model().hidden_size(), 64);
  EXPECT_EQ(reading.job.data().path(), (folder_ / "tokens").lexically_normal().string());
}

TEST_F(SpecFile, NamesAMissingJobFile) {
  EXPECT_THAT(Errors(folder_ / "none.yaml"),
              ElementsAre(AllOf(HasSubstr("none.yaml"), HasSubstr("does not exist"))));
}

TEST_F(SpecFile, RefusesAFolder) {
  EXPECT_THAT(Errors(folder_), ElementsAre(HasSubstr("is a folder")));
}

TEST_F(SpecFile, NamesAMissingModelConfiguration) {
  EXPECT_THAT(Errors(Write("job.yaml", kJob)),
              ElementsAre(AllOf(HasSubstr("job.yaml:1: model.config"), HasSubstr("config.json"),
                                HasSubstr("does not exist"))));
}

TEST_F(SpecFile, PassesOnEveryErrorOfTheModelConfiguration) {
  Write("config.json", R"({"model_type": "gpt2", "vocab_size": -1})");
  const std::vector<std::string> errors = Errors(Write("job.yaml", kJob));
  EXPECT_THAT(errors,
              ::testing::Contains(AllOf(HasSubstr("config.json"), HasSubstr("model_type"))));
  EXPECT_THAT(errors, ::testing::Contains(HasSubstr("vocab_size: -1")));
  EXPECT_THAT(errors, ::testing::Contains(HasSubstr("hidden_size: is missing")));
}

TEST_F(SpecFile, RefusesAModelThatIsGivenTwice) {
  Write("config.json", kConfig);
  std::string text = kJob;
  text.replace(text.find("{config: config.json}"), 21, "{config: config.json, vocab_size: 9}");
  EXPECT_THAT(Errors(Write("job.yaml", text)), ElementsAre(HasSubstr("both given")));
}

TEST_F(SpecFile, InlinesAPlanOfAFile) {
  Write("config.json", kConfig);
  Write("plan.json", PlanToJson(UniformPlan(RecomputeLayer(), 2, 1)));
  std::string text = kJob;
  text.replace(text.find("table: full"), 11, "table: plan.json");
  const JobReading reading = ReadJobFile(Write("job.yaml", text));
  EXPECT_THAT(reading.errors, IsEmpty());
  EXPECT_TRUE(reading.job.plan().has_table_plan());
  EXPECT_TRUE(PlanJob(reading.job).plan.ranks[0].layers[1].recomputes_block());
}

TEST_F(SpecFile, NamesAPlanThatIsNoPlan) {
  Write("config.json", kConfig);
  Write("plan.json", "{\"layers\": 3}");
  std::string text = kJob;
  text.replace(text.find("table: full"), 11, "table: plan.json");
  EXPECT_THAT(Errors(Write("job.yaml", text)),
              ElementsAre(AllOf(HasSubstr("job.yaml:3: plan.table"), HasSubstr("plan.json"),
                                HasSubstr("not a BitPlan"))));
}

}  // namespace
}  // namespace agoq
