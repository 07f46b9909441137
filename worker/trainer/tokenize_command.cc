#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "worker/data/tokenizer.h"
#include "worker/trainer/commands.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

int Tokenize(TokenizeOptions options) {
  if (options.text_paths.size() < 2) {
    throw UsageError("tokenize: give at least one text, then the prefix of the data set");
  }
  options.output_prefix = options.text_paths.back();
  options.text_paths.pop_back();
  const TokenizeCounts counts = TokenizeFiles(options);
  std::cout << options.output_prefix << "_train: " << counts.train_tokens << " tokens\n";
  if (options.holdout_fraction > 0) {
    std::cout << options.output_prefix << "_valid: " << counts.valid_tokens << " tokens\n";
  }
  return kExitDone;
}

}  // namespace

void AddTokenizeCommand(CLI::App* app, Action* action) {
  auto options = std::make_shared<TokenizeOptions>();  // shared with the callback below
  CLI::App* tokenize = app->add_subcommand(
      "tokenize", "Turn texts into byte-level token data sets, PREFIX_train and PREFIX_valid");
  tokenize
      ->add_option("paths", options->text_paths,
                   "TEXT... PREFIX: texts, each a document; then the prefix")
      ->required();
  tokenize->add_option("--held-out", options->holdout_fraction, "Part at the end that is held out")
      ->capture_default_str();
  tokenize->callback([options, action] { *action = [options] { return Tokenize(*options); }; });
}

}  // namespace agoq
