// Byte-level tokens: id = byte value, vocabulary of 256.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agoq {

inline constexpr std::int64_t kByteVocabSize = 256;

struct TokenizeOptions {
  std::vector<std::string> text_paths;  // each is one document
  std::string output_prefix;
  double holdout_fraction = 0.05;  // [0, 1); 0: no held-out part is written
};

struct TokenizeCounts {
  std::int64_t train_tokens = 0;
  std::int64_t train_documents = 0;
  std::int64_t valid_tokens = 0;
  std::int64_t valid_documents = 0;
};

// Writes OUTPUT_train.{bin,idx} and OUTPUT_valid.{bin,idx} with 16-bit ids. Training gets the first
// floor(n * (1 - holdout_fraction)) bytes of the texts in the given order, the rest is held out; a
// document that spans the cut is split. Throws std::invalid_argument or std::runtime_error for an
// empty or absent text, a part without tokens, a folder that cannot be written; then no new data
// set has appeared.
TokenizeCounts TokenizeFiles(const TokenizeOptions& options);

std::vector<std::int64_t> EncodeBytes(std::string_view text);
// Throws std::invalid_argument for an id outside 0..255.
std::string DecodeBytes(std::span<const std::int64_t> ids);

}  // namespace agoq
