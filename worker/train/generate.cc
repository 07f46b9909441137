#include "worker/train/generate.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "worker/model/stage.h"
#include "worker/train/checkpoint.h"
#include "worker/train/train_state.h"

namespace agoq {
namespace {

constexpr std::int64_t kNumBytes = 256;

TokenBatch Window(const std::vector<std::int64_t>& tokens, std::int64_t context_length) {
  const std::int64_t count = std::min(context_length, static_cast<std::int64_t>(tokens.size()));
  const at::Tensor ids_T = at::empty({count}, at::kLong);
  std::copy(tokens.end() - count, tokens.end(), ids_T.mutable_data_ptr<std::int64_t>());
  return {
      .ids_T = ids_T, .positions_T = at::arange(count, at::kLong), .batch = 1, .sequence = count};
}

std::int64_t Likeliest(const std::vector<double>& logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

std::int64_t Draw(std::vector<double> logits, double temperature, std::mt19937_64& random) {
  const double largest = logits[Likeliest(logits)];
  double sum = 0;
  for (double& logit : logits) {
    logit = std::exp((logit - largest) / temperature);
    sum += logit;
  }
  // Made from the generator's bits, since the standard's distributions differ between libraries.
  double left = sum * (static_cast<double>(random() >> 11) * 0x1.0p-53);
  for (std::size_t token = 0; token < logits.size(); ++token) {
    left -= logits[token];
    if (left < 0) return static_cast<std::int64_t>(token);
  }
  return static_cast<std::int64_t>(logits.size()) - 1;
}

std::vector<double> NextLogits(const Stage& stage, const TokenBatch& batch) {
  const at::Tensor logits_V = stage.LastLogits(batch).view({-1}).to(at::kDouble);
  const double* first = logits_V.const_data_ptr<double>();
  return {first, first + logits_V.numel()};
}

void CheckGenerate(const GenerateOptions& options) {
  if (options.prompt.empty()) {
    throw std::invalid_argument("prompt is empty; give at least one byte");
  }
  if (options.model.vocab_size < kNumBytes) {
    throw std::invalid_argument("vocabulary " + std::to_string(options.model.vocab_size) +
                                ": text needs a byte-level model, of 256 tokens at least");
  }
  if (options.num_tokens < 0 || options.temperature < 0 || options.context_length < 0) {
    throw std::invalid_argument("tokens, temperature and context must not be negative");
  }
}

}  // namespace

std::string GenerateText(const GenerateOptions& options) {
  CheckGenerate(options);
  at::set_num_threads(options.threads);
  const std::int64_t context_length =
      options.context_length > 0 ? options.context_length : options.model.max_positions;
  const Stage stage(
      {.shape = options.model, .compute = options.compute, .num_positions = context_length});
  RestoreWeights(ReadCheckpoint(options.checkpoint), stage.parameters());
  std::vector<std::int64_t> tokens;
  for (const char byte : options.prompt) tokens.push_back(static_cast<unsigned char>(byte));
  std::string text = options.prompt;
  std::mt19937_64 random(options.seed);
  for (std::int64_t i = 0; i < options.num_tokens; ++i) {
    const std::vector<double> logits = NextLogits(stage, Window(tokens, context_length));
    tokens.push_back(options.temperature == 0 ? Likeliest(logits)
                                              : Draw(logits, options.temperature, random));
    if (tokens.back() >= kNumBytes) break;  // an end of document
    text += static_cast<char>(tokens.back());
  }
  return text;
}

}  // namespace agoq
