#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>

#include "worker/train/evaluate.h"
#include "worker/train/generate.h"
#include "worker/trainer/checkpoint_source.h"
#include "worker/trainer/commands.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

const std::map<std::string, ComputeType> kComputeTypes = {{"float32", ComputeType::kFloat32},
                                                          {"bfloat16", ComputeType::kBFloat16},
                                                          {"float64", ComputeType::kFloat64}};

// Puts the checkpoint that the user means in place of the path that was given.
template <typename Options>
void Resolve(Options* options) {
  const CheckpointSource source = FindCheckpoint(options->checkpoint);
  for (const std::string& reason : source.skipped) std::cerr << "warning: " << reason << "\n";
  options->checkpoint = source.path;
  options->model = ShapeOfConfig(source.config_json, source.path + ": config");
}

int EvaluateAndTell(EvaluateCheckpointOptions options) {
  Resolve(&options);
  if (options.shape.sequence_length == 0) {
    options.shape.sequence_length = options.model.max_positions;
  }
  const EvaluationReport report = EvaluateCheckpoint(options);
  std::cout << options.checkpoint << ": loss " << std::fixed << std::setprecision(4) << report.loss
            << " nats per token over " << report.tokens << " tokens\n";
  return kExitDone;
}

int Generate(GenerateOptions options) {
  Resolve(&options);
  std::cout << GenerateText(options) << "\n";
  return kExitDone;
}

template <typename Options>
void AddCommonOptions(CLI::App* command, Options* options) {
  command
      ->add_option("checkpoint", options->checkpoint,
                   "A checkpoint, or the folder of a job's checkpoints")
      ->required();
  command->add_option("--compute", options->compute, "float32, bfloat16 or float64")
      ->transform(CLI::CheckedTransformer(kComputeTypes))
      ->default_str("float32");
  command->add_option("--threads", options->threads, "CPU threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

}  // namespace

void AddEvalCommand(CLI::App* app, Action* action) {
  auto options = std::make_shared<EvaluateCheckpointOptions>();  // shared with the callback below
  CLI::App* eval = app->add_subcommand("eval", "The loss of a checkpoint on a data set");
  AddCommonOptions(eval, options.get());
  eval->add_option("--data", options->data_prefix,
                   "Prefix of the data set (PREFIX.bin, PREFIX.idx)")
      ->required();
  eval->add_option("--sequence-length", options->shape.sequence_length,
                   "Tokens of a sequence; default: the model's longest")
      ->check(CLI::PositiveNumber);
  eval->add_option("--batch-size", options->shape.batch_size, "Sequences at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  eval->callback([options, action] { *action = [options] { return EvaluateAndTell(*options); }; });
}

void AddGenerateCommand(CLI::App* app, Action* action) {
  auto options = std::make_shared<GenerateOptions>();  // shared with the callback below
  CLI::App* generate =
      app->add_subcommand("generate", "Text that a checkpoint of a byte-level model writes");
  AddCommonOptions(generate, options.get());
  generate->add_option("--prompt", options->prompt, "Text to go on from")->required();
  generate->add_option("--tokens", options->num_tokens, "Tokens to write")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  generate->add_option("--temperature", options->temperature, "0: the likeliest token each time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  generate->add_option("--seed", options->seed, "Fixes what is drawn")->capture_default_str();
  generate->callback([options, action] { *action = [options] { return Generate(*options); }; });
}

}  // namespace agoq
