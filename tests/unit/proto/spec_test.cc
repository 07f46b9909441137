// Job files as text: what is read, what is refused, and what the messages say.
#include "proto/common/spec.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "proto/common/job_checks.h"
#include "proto/common/job_plan.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Line 1 is `name`; each test adds what it is about at the end.
constexpr const char* kModel = R"(name: tiny
model:
  vocab_size: 256
  hidden_size: 64
  intermediate_size: 96
  num_hidden_layers: 2
  num_attention_heads: 4
data: {path: tokens}
)";
constexpr const char* kPlan = "plan: {mode: fixed, table: paper}\n";
constexpr const char* kSteps = "steps: {total: 10, sequence_length: 32}\n";

std::string Job() { return std::string(kModel) + kPlan + kSteps; }

std::vector<std::string> Errors(const std::string& text) {
  std::vector<std::string> texts;
  for (const SpecError& error : ReadJobText(text, "job.yaml", "").errors) {
    texts.push_back(ToText(error));
  }
  return texts;
}

v1::JobSpec Read(const std::string& text) {
  EXPECT_THAT(Errors(text), IsEmpty());
  return ReadJobText(text, "job.yaml", "").job;
}

TEST(Spec, FillsEveryDefault) {
  const v1::JobSpec job = Read(Job());
  EXPECT_EQ(job.data().format(), v1::DataSpec::FORMAT_MEGATRON);
  EXPECT_EQ(job.mesh().data(), 1);
  EXPECT_EQ(job.precision().compute(), v1::PrecisionSpec::COMPUTE_FLOAT32);
  EXPECT_EQ(job.precision().gradient_format(), v1::PrecisionSpec::GRADIENT_FORMAT_INT8);
  EXPECT_EQ(job.precision().gradient_block(), 256);
  EXPECT_EQ(job.optimizer().learning_rate(), 3e-4);
  EXPECT_EQ(job.optimizer().beta2(), 0.95);
  EXPECT_EQ(job.steps().micro_batches(), 1);
  EXPECT_EQ(job.checkpoint().keep(), 2);
  EXPECT_EQ(job.timeouts().collective_seconds(), 60);
  EXPECT_EQ(job.model().rope_theta(), 10000);
}

TEST(Spec, ZeroIsKeptWhereTheDefaultIsAnother) {
  const v1::JobSpec job = Read(Job() + "optimizer: {clip_norm: 0, weight_decay: 0}\n");
  EXPECT_EQ(job.optimizer().clip_norm(), 0);
  EXPECT_EQ(job.optimizer().weight_decay(), 0);
}

// C-13
TEST(Spec, ReadsEverySpellingOfANumber) {
  for (const char* text : {"2e-5", "2.0e-5", "\"2e-5\"", "0.00002", "2E-5"}) {
    const v1::JobSpec job = Read(Job() + "optimizer: {learning_rate: " + text + "}\n");
    EXPECT_EQ(job.optimizer().learning_rate(), 2e-5) << text;
  }
}

// C-13
TEST(Spec, NamesAMisspeltKeyAndTheNearestOne) {
  EXPECT_THAT(Errors(Job() + "optimizer:\n  learning_rat: 1e-4\n"),
              ElementsAre("job.yaml:12: optimizer.learning_rat: unknown key; did you mean "
                          "learning_rate?"));
}

// C-13
TEST(Spec, FindsAMisspeltKeyInTheSectionWhereItBelongs) {
  EXPECT_THAT(Errors(Job() + "learning_rat: 1e-4\n"),
              ElementsAre(AllOf(StartsWith("job.yaml:11: learning_rat:"),
                                HasSubstr("did you mean optimizer.learning_rate?"))));
}

TEST(Spec, ListsValidKeysWhenNoneIsNear) {
  EXPECT_THAT(Errors(Job() + "timeouts: {zzzzzzzz: 1}\n"),
              ElementsAre(HasSubstr("use one of collective_seconds")));
}

// C-13
TEST(Spec, RefusesRatesThatAreNoPositiveNumberWithTheirLine) {
  for (const char* text : {"abc", "nan", "-1", "inf", "0", "1e999", "\"\"", "[1]"}) {
    EXPECT_THAT(Errors(Job() + "optimizer:\n  learning_rate: " + text + "\n"),
                ElementsAre(StartsWith("job.yaml:12: optimizer.learning_rate: ")))
        << text;
  }
}

// C-13
TEST(Spec, RefusesAKeyThatIsGivenTwiceWithItsLine) {
  EXPECT_THAT(Errors(Job() + "optimizer:\n  beta1: 0.9\n  beta1: 0.8\n"),
              ElementsAre(AllOf(StartsWith("job.yaml:13: optimizer.beta1:"),
                                HasSubstr("was given before"))));
}

TEST(Spec, TellsAllErrorsOfAFileInItsOrder) {
  EXPECT_THAT(Errors(std::string(kModel) + "plan: {mode: fixd, table: paper}\n" +
                     "steps: {total: ten, sequence_length: 32}\nmesh: {data: 0}\nfoo: 1\n"),
              ElementsAre(AllOf(HasSubstr(":9: plan.mode: fixd"), HasSubstr("mean fixed")),
                          HasSubstr(":10: steps.total: ten"),
                          AllOf(HasSubstr(":11: mesh.data: 0"), HasSubstr("at least 1")),
                          HasSubstr(":12: foo: unknown key")));
}

TEST(Spec, NamesWhatIsMissing) {
  EXPECT_THAT(Errors("name: a\n"),
              ElementsAre(HasSubstr("data.path: is missing"),
                          HasSubstr("steps.sequence_length: is missing"),
                          HasSubstr("model: is missing"), HasSubstr("steps.total: 0: nothing")));
}

TEST(Spec, NamesAMissingFieldOfTheModelAlone) {
  std::string text = Job();
  text.erase(text.find("  hidden_size: 64\n"), 18);
  EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("model.hidden_size: is missing")));
}

TEST(Spec, AcceptsWordsAndFullNamesOfEnums) {
  EXPECT_EQ(Read(Job() + "precision: {compute: bfloat16}").precision().compute(),
            v1::PrecisionSpec::COMPUTE_BFLOAT16);
  EXPECT_EQ(Read(Job() + "precision: {compute: COMPUTE_FLOAT64}").precision().compute(),
            v1::PrecisionSpec::COMPUTE_FLOAT64);
  EXPECT_EQ(Read(Job() + "precision: {gradient_format: none}").precision().gradient_format(),
            v1::PrecisionSpec::GRADIENT_FORMAT_NONE);
}

TEST(Spec, ListsTheWordsOfAnEnum) {
  EXPECT_THAT(Errors(Job() + "precision: {compute: fp16}"),
              ElementsAre(HasSubstr("use float32, bfloat16 or float64")));
}

TEST(Spec, RefusesWhatThisVersionDoesNotDoByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"mesh: {pipeline: 2}", "mesh.pipeline: 2: not supported"},
      {"mesh: {tensor: 4}", "mesh.tensor: 4: not supported"},
      {"mesh: {chunks: 2}", "mesh.chunks: 2: not supported"},
      {"mesh: {sequence_parallel: true}", "mesh.sequence_parallel: true: not supported"},
      {"precision: {rounding: stochastic}", "precision.rounding: stochastic: not supported"},
      {"precision: {master: none}", "precision.master: none: not supported"},
      {"checkpoint: {uri: 's3://bucket/x'}", "checkpoint.uri: s3://bucket/x: not supported"},
      {"gang: {min_workers: 3}", "gang.min_workers: 3: not supported"},
  };
  for (const auto& [line, message] : cases) {
    EXPECT_THAT(Errors(Job() + line + "\n"), ElementsAre(HasSubstr(message)));
  }
}

TEST(Spec, AcceptsUnsupportedFeaturesThatAreOff) {
  EXPECT_THAT(Errors(Job() + "mesh: {pipeline: 1, tensor: 1, sequence_parallel: false}\n" +
                     "precision: {rounding: nearest}\n"),
              IsEmpty());
}

TEST(Spec, RefusesDocumentMasksByName) {
  std::string text = Job();
  text.replace(text.find("{path: tokens}"), 14, "{path: tokens, document_mask: true}");
  EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("data.document_mask: true: not supported")));
}

TEST(Spec, PlansByItselfUnlessATableIsGiven) {
  const v1::JobSpec job = Read(std::string(kModel) + kSteps);
  EXPECT_EQ(job.plan().mode(), v1::PlanSpec::MODE_AUTO);
  EXPECT_EQ(PlanJob(job).plan.ranks[0].layers[1].sites, FullLayer().sites);
  EXPECT_EQ(PlanJob(Read(std::string(kModel) + kSteps + "plan: {mode: paper}\n"))
                .plan.ranks[0]
                .layers[1]
                .sites,
            PaperLayer().sites);
}

TEST(Spec, RefusesATableWithoutModeFixed) {
  EXPECT_THAT(Errors(std::string(kModel) + kSteps + "plan: {mode: auto, table: paper}\n"),
              ElementsAre(AllOf(HasSubstr("plan.table: paper"), HasSubstr("mode: fixed"))));
}

TEST(Spec, RefusesBoundsOfThePlannerInModeFixed) {
  EXPECT_THAT(Errors(std::string(kModel) + kSteps +
                     "plan: {mode: fixed, table: paper, error_budget: 0.1}\n"),
              ElementsAre(AllOf(HasSubstr("plan.error_budget"), HasSubstr("mode: auto"))));
}

TEST(Spec, SaysThatAPlanOfItsOwnDoesNotFit) {
  const v1::JobSpec job =
      Read(std::string(kModel) + kSteps + "plan: {mode: auto, budget_bytes: 1000}\n");
  EXPECT_THAT(PlanJob(job).problem,
              AllOf(HasSubstr("plan.budget_bytes: 1000"), HasSubstr("needs at least")));
}

TEST(Spec, RefusesATableThatIsNeitherNamedNorAFile) {
  EXPECT_THAT(Errors(std::string(kModel) + kSteps + "plan: {mode: fixed, table: papr}\n"),
              ElementsAre(AllOf(HasSubstr("plan.table: papr"), HasSubstr("full, paper"))));
}

TEST(Spec, RefusesModeFixedWithoutTable) {
  EXPECT_THAT(Errors(std::string(kModel) + kSteps + "plan: {mode: fixed}\n"),
              ElementsAre(HasSubstr("plan.table: is missing")));
}

TEST(Spec, ReadsATableThatIsWrittenInTheJobFile) {
  const v1::JobSpec job = Read(std::string(kModel) + kSteps + R"(
plan:
  mode: fixed
  table_plan:
    ranks:
      - rank: 0
        layers:
          - layer: 0
            sites: [{site: x2, kind: packed, format: nf4, block: 64}]
          - layer: 1
)");
  const BitPlan plan = PlanJob(job).plan;
  ASSERT_EQ(plan.ranks.size(), 1u);
  EXPECT_EQ(plan.ranks[0].layers[0].at(Site::kX2),
            (SitePolicy{PolicyKind::kPacked, {Format::kNf4, 64}}));
  EXPECT_EQ(plan.ranks[0].layers[1].at(Site::kX2), SitePolicy{});
}

TEST(Spec, ReviewsATableOfTheWrongSize) {
  EXPECT_THAT(Errors(std::string(kModel) + kSteps +
                     "plan: {mode: fixed, table_plan: {ranks: [{layers: [{layer: 0}]}]}}\n"),
              ElementsAre(AllOf(HasSubstr("1 layers"), HasSubstr("has 2"))));
}

TEST(Spec, PassesOnWarningsOfTheTable) {
  const std::string text = std::string(kModel) + kSteps + R"(
plan:
  mode: fixed
  table_plan:
    ranks: [{layers: [{layer: 0, sites: [{site: q, kind: packed, format: nf4}]}, {layer: 1}]}]
)";
  EXPECT_THAT(ReadJobText(text, "job.yaml", "").warnings,
              ElementsAre(HasSubstr("known to break training")));
}

TEST(Spec, NamedTableCoversEveryRankAndLayer) {
  const BitPlan plan = PlanJob(Read(Job() + "mesh: {data: 3}\n")).plan;
  ASSERT_EQ(plan.ranks.size(), 3u);
  EXPECT_EQ(plan.ranks[2].layers.size(), 2u);
  EXPECT_EQ(plan.ranks[2].layers[1].sites, PaperLayer().sites);
}

TEST(Spec, RefusesHeadsThatDoNotDivide) {
  std::string text = Job();
  text.replace(text.find("num_attention_heads: 4"), 22, "num_attention_heads: 5");
  EXPECT_THAT(Errors(text), ElementsAre(AllOf(HasSubstr("job.yaml:7: model.num_attention_heads: 5"),
                                              HasSubstr("must divide hidden_size (64)"))));
}

TEST(Spec, RefusesKeyValueHeadsThatDoNotDivide) {
  std::string text = Job();
  text.replace(text.find("num_attention_heads: 4"), 22,
               "num_attention_heads: 4\n  num_key_value_heads: 3");
  EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("must divide num_attention_heads (4)")));
}

TEST(Spec, RefusesHeadsOfOddSize) {
  std::string text = Job();
  text.replace(text.find("num_attention_heads: 4"), 22, "num_attention_heads: 4\n  head_dim: 7");
  EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("need an even number")));
}

TEST(Spec, RefusesSequencesLongerThanThePositions) {
  EXPECT_THAT(Errors(std::string(kModel) + kPlan + "steps: {total: 1, sequence_length: 4096}\n"),
              ElementsAre(AllOf(HasSubstr("steps.sequence_length: 4096"), HasSubstr("(2048)"))));
}

TEST(Spec, RefusesZeroSteps) {
  EXPECT_THAT(Errors(std::string(kModel) + kPlan + "steps: {total: 0, sequence_length: 8}\n"),
              ElementsAre(HasSubstr("nothing to do")));
}

TEST(Spec, RefusesAWarmUpLongerThanTheRun) {
  EXPECT_THAT(Errors(Job() + "optimizer: {warmup_steps: 11}\n"),
              ElementsAre(HasSubstr("more than steps.total (10)")));
}

TEST(Spec, RefusesAGradientBlockThatIsNoPowerOfTwo) {
  EXPECT_THAT(Errors(Job() + "precision: {gradient_block: 96}\n"),
              ElementsAre(HasSubstr("power of two")));
}

TEST(Spec, RefusesACheckpointIntervalWithoutPlace) {
  EXPECT_THAT(Errors(Job() + "checkpoint: {interval: 5}\n"),
              ElementsAre(HasSubstr("give checkpoint.uri")));
}

TEST(Spec, ResolvesRelativePathsAgainstTheFolder) {
  const v1::JobSpec job =
      ReadJobText(Job() + "checkpoint: {uri: ../out}\n", "job.yaml", "/jobs/a").job;
  EXPECT_EQ(job.data().path(), "/jobs/a/tokens");
  EXPECT_EQ(job.checkpoint().uri(), "/jobs/out");
}

TEST(Spec, KeepsAbsolutePathsAndFileUris) {
  const v1::JobSpec job =
      ReadJobText(Job() + "checkpoint: {uri: 'file:///out'}\n", "job.yaml", "/jobs").job;
  EXPECT_EQ(job.checkpoint().uri(), "/out");
}

TEST(Spec, NamesAJobWithoutNameAfterItsFile) {
  std::string text = Job();
  text.erase(0, text.find('\n') + 1);
  EXPECT_EQ(ReadJobText(text, "dir/night-run.yaml", "").job.name(), "night-run");
}

TEST(Spec, RefusesNamesThatCannotBeLabels) {
  std::string text = Job();
  text.replace(0, text.find('\n'), "name: \"a b\\\"\"");
  EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("letters, digits")));
}

TEST(Spec, RefusesTextThatIsNotYamlWithItsLine) {
  EXPECT_THAT(Errors("name: a\nmodel: {\n  b: [1\n"), ElementsAre(HasSubstr("not YAML")));
  EXPECT_THAT(Errors("a: b: c\n"), ElementsAre(StartsWith("job.yaml:1: not YAML")));
}

TEST(Spec, RefusesTextThatIsNoJob) {
  EXPECT_THAT(Errors(""), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(Errors("# nothing\n"), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(Errors("just text\n"), ElementsAre(HasSubstr("must be a section")));
  EXPECT_THAT(Errors("- a\n- b\n"), ElementsAre(HasSubstr("must be a section")));
  EXPECT_THAT(Errors("name: a\n---\nname: b\n"), ElementsAre(HasSubstr("2 documents")));
}

TEST(Spec, RefusesAValueWhereASectionBelongs) {
  EXPECT_THAT(Errors(Job() + "optimizer: adam\n"),
              ElementsAre(AllOf(HasSubstr("optimizer: adam"), HasSubstr("must be a section"))));
}

TEST(Spec, RefusesAKeyWithoutValue) {
  EXPECT_THAT(Errors(Job() + "optimizer:\n  beta1:\n"), ElementsAre(HasSubstr("has no value")));
}

TEST(Spec, RefusesNumbersBeyondTheirType) {
  EXPECT_THAT(Errors(std::string(kModel) + kPlan +
                     "steps: {total: 99999999999999999999, sequence_length: 8}\n"),
              ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(
      Errors(std::string(kModel) + kPlan + "steps: {total: 1, sequence_length: 8, seed: -1}\n"),
      ElementsAre(HasSubstr("steps.seed: -1")));
}

TEST(Spec, ReadsWholeNumbersWithExponent) {
  EXPECT_EQ(Read(std::string(kModel) + kPlan + "steps: {total: 1e6, sequence_length: 8}\n")
                .steps()
                .total(),
            1000000);
}

TEST(Spec, JsonOfAJobReadsBackTheSame) {
  const v1::JobSpec job = Read(Job());
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(job, &json, options).ok());
  EXPECT_EQ(Read(json).SerializeAsString(), job.SerializeAsString());
}

}  // namespace
}  // namespace agoq
