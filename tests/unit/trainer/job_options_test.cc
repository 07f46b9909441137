#include "worker/trainer/job_options.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/common/job_plan.h"
#include "proto/common/plan_codec.h"
#include "proto/common/spec.h"

namespace agoq {
namespace {

constexpr char kJob[] = R"(
name: demo
model: {vocab_size: 256, hidden_size: 48, intermediate_size: 96, num_hidden_layers: 3, num_attention_heads: 4,
        num_key_value_heads: 2, rms_norm_eps: 2e-5, rope_theta: 5000, initializer_range: 0.03,
        tie_word_embeddings: true, max_position_embeddings: 64}
data: {path: train, validation_path: held_out}
mesh: {data: 2}
precision: {compute: bfloat16, gradient_block: 512}
plan: {mode: fixed, table: paper, budget_bytes: 123456789, error_sample_interval: 5}
optimizer: {learning_rate: 2e-5, beta1: 0.8, beta2: 0.9, epsilon: 1e-7, weight_decay: 0.2, clip_norm: 0.5,
            warmup_steps: 7, min_rate_ratio: 0.25}
steps: {total: 40, max_seconds: 9.5, sequence_length: 32, micro_batch_size: 3, micro_batches: 4, seed: 11, threads: 2}
checkpoint: {uri: saves, interval: 6, keep: 5}
timeouts: {collective_seconds: 2.5}
)";

TrainOptions OptionsOfText(const std::string& text) {
  const JobReading reading = ReadJobText(text, "job.yaml", "/jobs");
  for (const SpecError& error : reading.errors) ADD_FAILURE() << ToText(error);
  return OptionsOf(reading.job, PlanJob(reading.job).plan);
}

std::string With(const std::string& from, const std::string& to) {
  std::string text = kJob;
  return text.replace(text.find(from), from.size(), to);
}

TEST(JobOptions, CarriesTheModel) {
  const TrainOptions options = OptionsOfText(kJob);
  const ModelShape expected = {.vocab_size = 256,
                               .hidden_size = 48,
                               .num_layers = 3,
                               .num_heads = 4,
                               .num_kv_heads = 2,
                               .head_size = 12,
                               .ffn_size = 96,
                               .max_positions = 64,
                               .tied_head = true,
                               .norm_epsilon = 2e-5,
                               .rope_theta = 5000,
                               .init_std = 0.03};
  EXPECT_EQ(options.model, expected);
}

TEST(JobOptions, CarriesNameAndPrecision) {
  const TrainOptions options = OptionsOfText(kJob);
  EXPECT_EQ(options.job_name, "demo");
  EXPECT_EQ(options.compute, ComputeType::kBFloat16);
  EXPECT_EQ(options.gradient_spec, (QuantSpec{Format::kInt8, 512}));
}

TEST(JobOptions, HasNoGradientFormatInTheControl) {
  EXPECT_FALSE(OptionsOfText(With("gradient_block: 512", "gradient_format: none")).gradient_spec);
}

TEST(JobOptions, KnowsEveryComputeType) {
  EXPECT_EQ(OptionsOfText(With("bfloat16", "float32")).compute, ComputeType::kFloat32);
  EXPECT_EQ(OptionsOfText(With("bfloat16", "float64")).compute, ComputeType::kFloat64);
}

TEST(JobOptions, CarriesTheOptimizer) {
  const OptimizerOptions optimizer = OptionsOfText(kJob).optimizer;
  EXPECT_EQ(optimizer.learning_rate, 2e-5);
  EXPECT_EQ(optimizer.beta1, 0.8);
  EXPECT_EQ(optimizer.beta2, 0.9);
  EXPECT_EQ(optimizer.epsilon, 1e-7);
  EXPECT_EQ(optimizer.weight_decay, 0.2);
  EXPECT_EQ(optimizer.clip_norm, 0.5);
  EXPECT_EQ(optimizer.warmup_steps, 7);
  EXPECT_EQ(optimizer.min_rate_ratio, 0.25);
}

TEST(JobOptions, CarriesTheSteps) {
  const TrainOptions options = OptionsOfText(kJob);
  EXPECT_EQ(options.steps, 40);
  EXPECT_EQ(options.max_seconds, 9.5);
  EXPECT_EQ(options.sequence_length, 32);
  EXPECT_EQ(options.micro_batch_size, 3);
  EXPECT_EQ(options.micro_batches, 4);
  EXPECT_EQ(options.seed, 11u);
  EXPECT_EQ(options.threads, 2);
}

TEST(JobOptions, CarriesPathsCheckpointsAndBounds) {
  const TrainOptions options = OptionsOfText(kJob);
  EXPECT_EQ(options.data_prefix, "/jobs/train");
  EXPECT_EQ(options.validation_prefix, "/jobs/held_out");
  EXPECT_EQ(options.checkpoint.directory, "/jobs/saves");
  EXPECT_EQ(options.checkpoint.interval, 6);
  EXPECT_EQ(options.checkpoint.keep, 5);
  EXPECT_EQ(options.memory_budget_bytes, 123456789);
  EXPECT_EQ(options.error_sample_interval, 5);
  EXPECT_EQ(options.collective_timeout, std::chrono::milliseconds(2500));
}

TEST(JobOptions, MakesThePlanForEveryRank) {
  const TrainOptions options = OptionsOfText(kJob);
  ASSERT_EQ(options.plan.ranks.size(), 2u);
  ASSERT_EQ(options.plan.ranks[1].layers.size(), 3u);
  EXPECT_EQ(options.plan.ranks[1].layers[2].sites, PaperLayer().sites);
  EXPECT_EQ(options.plan_json, PlanToJson(options.plan));
}

}  // namespace
}  // namespace agoq
