#include "proto/common/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A complete configuration with `extra` keys appended.
std::string Config(const std::string& extra = "") {
  return R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 5120,
             "intermediate_size": 14336, "num_hidden_layers": 40, "num_attention_heads": 32,
             "num_key_value_heads": 8)" +
         (extra.empty() ? "" : ", " + extra) + "}";
}

std::vector<std::string> Errors(const std::string& json) {
  std::vector<std::string> texts;
  for (const SpecError& error : ReadModelConfig(json, "config.json").errors) {
    texts.push_back(ToText(error));
  }
  return texts;
}

ModelShape Shape(const std::string& json) {
  const ModelConfigReading reading = ReadModelConfig(json, "config.json");
  EXPECT_THAT(Errors(json), IsEmpty());
  return ShapeFromSpec(reading.model);
}

// M-06
TEST(ModelConfig, HeadSizeIsTheExplicitOne) {
  const ModelShape shape = Shape(Config(R"("head_dim": 128)"));
  EXPECT_EQ(shape.head_size, 128);
  EXPECT_EQ(shape.query_size(), 4096);
  EXPECT_EQ(shape.kv_size(), 1024);
}

// M-06
TEST(ModelConfig, HeadSizeThatIsNullOrAbsentFollowsFromTheWidth) {
  EXPECT_EQ(Shape(Config(R"("head_dim": null)")).head_size, 160);
  EXPECT_EQ(Shape(Config()).head_size, 160);
}

// M-06
TEST(ModelConfig, NormEpsilonIsTheFilesOwn) {
  EXPECT_EQ(Shape(Config(R"("rms_norm_eps": 1e-05)")).norm_epsilon, 1e-5);
  EXPECT_EQ(Shape(Config()).norm_epsilon, 1e-6);
}

TEST(ModelConfig, KeyValueHeadsThatAreNullAreAsManyAsQueryHeads) {
  std::string json = Config();
  json.replace(json.find("\"num_key_value_heads\": 8"), 24, "\"num_key_value_heads\": null");
  EXPECT_EQ(Shape(json).num_kv_heads, 32);
}

TEST(ModelConfig, ReadsRopeThetaFromEitherPlace) {
  EXPECT_EQ(Shape(Config(R"("rope_theta": 500000.0)")).rope_theta, 500000);
  EXPECT_EQ(Shape(Config(R"("rope_parameters": {"rope_theta": 250000, "rope_type": "default"})"))
                .rope_theta,
            250000);
}

TEST(ModelConfig, RefusesTwoDifferentRopeThetas) {
  EXPECT_THAT(Errors(Config(R"("rope_theta": 1e4, "rope_parameters": {"rope_theta": 2e4})")),
              ElementsAre(HasSubstr("differs")));
}

TEST(ModelConfig, ReadsTheTieFlag) {
  EXPECT_TRUE(Shape(Config(R"("tie_word_embeddings": true)")).tied_head);
  EXPECT_FALSE(Shape(Config()).tied_head);
}

TEST(ModelConfig, RefusesKeysThatChangeTheMathsByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"rope_scaling", R"({"rope_type": "llama3", "factor": 8.0})"},
      {"rope_scaling", R"({"type": "linear", "factor": 2.0})"},
      {"attention_bias", "true"},
      {"mlp_bias", "true"},
      {"hidden_act", R"("gelu")"},
      {"sliding_window", "4096"},
      {"attention_dropout", "0.1"},
      {"partial_rotary_factor", "0.5"},
      {"quantization_config", R"({"bits": 4})"},
      {"layer_types", R"(["full_attention", "sliding_attention"])"},
      {"architectures", R"(["MistralForCausalLM"])"},
  };
  for (const auto& [key, value] : cases) {
    const std::string json = Config('"' + std::string(key) + "\": " + value);
    EXPECT_THAT(Errors(json), ElementsAre(AllOf(HasSubstr("config.json"), HasSubstr(key),
                                                HasSubstr("not supported"))));
  }
}

TEST(ModelConfig, RefusesAnotherModelType) {
  std::string json = Config();
  json.replace(json.find("llama"), 5, "qwen2");
  EXPECT_THAT(Errors(json), ElementsAre(AllOf(HasSubstr("model_type"), HasSubstr("qwen2"))));
}

TEST(ModelConfig, AcceptsTheValuesThatItComputesWith) {
  EXPECT_THAT(Errors(Config(R"("rope_scaling": null, "attention_bias": false, "mlp_bias": false,
                               "hidden_act": "silu", "attention_dropout": 0.0,
                               "rope_interleaved": false)")),
              IsEmpty());
}

TEST(ModelConfig, AcceptsTheKeysOfPublishedFiles) {
  EXPECT_THAT(Errors(Config(R"("architectures": ["LlamaForCausalLM"], "bos_token_id": 128000,
      "eos_token_id": [128001, 128008], "initializer_range": 0.02, "max_position_embeddings": 8192,
      "pretraining_tp": 1, "torch_dtype": "bfloat16", "transformers_version": "4.40.0.dev0",
      "use_cache": true, "_name_or_path": "x", "pad_token_id": null)")),
              IsEmpty());
}

TEST(ModelConfig, RefusesUnknownKeysUnlessTheyAreOff) {
  EXPECT_THAT(Errors(Config(R"("logit_magic": 2)")),
              ElementsAre(AllOf(HasSubstr("logit_magic"), HasSubstr("may change the maths"))));
  EXPECT_THAT(Errors(Config(R"("logit_magic": null, "other_magic": false)")), IsEmpty());
}

TEST(ModelConfig, NamesEveryMissingKey) {
  EXPECT_THAT(Errors(R"({"model_type": "llama", "vocab_size": 8, "hidden_size": 8,
                         "intermediate_size": 8})"),
              ElementsAre(HasSubstr("num_hidden_layers: is missing"),
                          HasSubstr("num_attention_heads: is missing")));
}

TEST(ModelConfig, RefusesValuesOfAnotherTypeOrOutOfRange) {
  EXPECT_THAT(Errors(Config(R"("head_dim": "128")")), ElementsAre(HasSubstr("must be a number")));
  EXPECT_THAT(Errors(Config(R"("head_dim": 1.5)")), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(Errors(Config(R"("rms_norm_eps": -1)")), ElementsAre(HasSubstr("above 0")));
}

TEST(ModelConfig, RefusesTextThatIsNoJsonObject) {
  EXPECT_THAT(Errors("{"), ElementsAre(HasSubstr("not JSON")));
  EXPECT_THAT(Errors(""), ElementsAre(HasSubstr("not JSON")));
  EXPECT_THAT(Errors("[1]"), ElementsAre(HasSubstr("one JSON object")));
}

TEST(ModelConfig, WrittenFileReadsBackTheSame) {
  const ModelShape shape = Shape(Config(R"("head_dim": 128, "rms_norm_eps": 1e-05,
      "rope_theta": 500000.0, "tie_word_embeddings": true, "max_position_embeddings": 8192)"));
  EXPECT_EQ(Shape(ModelConfigJson(SpecFromShape(shape), "float32")), shape);
}

}  // namespace
}  // namespace agoq
