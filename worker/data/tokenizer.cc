#include "worker/data/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "worker/data/mapped_file.h"
#include "worker/data/token_dataset_writer.h"

namespace agoq {
namespace {

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// One part of the texts, written document by document.
void AppendDocument(std::string_view text, TokenDatasetWriter& writer) {
  constexpr std::size_t kPart = 1 << 16;
  for (std::size_t first = 0; first < text.size(); first += kPart) {
    writer.Append(EncodeBytes(text.substr(first, kPart)));
  }
  writer.EndDocument();
}

void CheckOptions(const TokenizeOptions& options) {
  if (options.text_paths.empty()) {
    throw std::invalid_argument("no text to tokenize; name at least one file");
  }
  if (options.holdout_fraction >= 0 && options.holdout_fraction < 1) return;
  throw std::invalid_argument("held-out fraction " + std::to_string(options.holdout_fraction) +
                              ": must be at least 0 and below 1");
}

std::vector<MappedFile> OpenTexts(const std::vector<std::string>& paths, std::int64_t& num_bytes) {
  std::vector<MappedFile> texts;
  for (const std::string& path : paths) {
    texts.emplace_back(path);
    num_bytes += static_cast<std::int64_t>(texts.back().bytes().size());
  }
  if (num_bytes > 0) return texts;
  throw std::invalid_argument(paths.front() + ": the text is empty; give a file with text");
}

void RequireTokens(const TokenDatasetWriter& writer, const char* part, double fraction) {
  if (writer.num_tokens() > 0) return;
  throw std::invalid_argument(std::string("held-out fraction ") + std::to_string(fraction) +
                              ": leaves no byte for the " + part +
                              " part; use more text or another fraction");
}

}  // namespace

TokenizeCounts TokenizeFiles(const TokenizeOptions& options) {
  CheckOptions(options);
  std::int64_t num_bytes = 0;
  const std::vector<MappedFile> texts = OpenTexts(options.text_paths, num_bytes);
  auto train_left = static_cast<std::int64_t>(
      std::floor(static_cast<double>(num_bytes) * (1 - options.holdout_fraction)));
  TokenDatasetWriter train(options.output_prefix + "_train", TokenWidth::k16Bit);
  std::unique_ptr<TokenDatasetWriter> valid;
  if (options.holdout_fraction > 0) {
    valid =
        std::make_unique<TokenDatasetWriter>(options.output_prefix + "_valid", TokenWidth::k16Bit);
  }
  for (const MappedFile& file : texts) {
    const std::string_view text = TextOf(file);
    const auto cut =
        static_cast<std::size_t>(std::min(train_left, static_cast<std::int64_t>(text.size())));
    train_left -= static_cast<std::int64_t>(cut);
    if (cut > 0 || text.empty()) AppendDocument(text.substr(0, cut), train);
    if (cut < text.size() && valid != nullptr) AppendDocument(text.substr(cut), *valid);
  }
  RequireTokens(train, "training", options.holdout_fraction);
  TokenizeCounts counts = {.train_tokens = train.num_tokens(),
                           .train_documents = train.num_documents()};
  train.Finish();
  if (valid != nullptr) {
    RequireTokens(*valid, "held-out", options.holdout_fraction);
    counts.valid_tokens = valid->num_tokens();
    counts.valid_documents = valid->num_documents();
    valid->Finish();
    valid->Commit();
  }
  train.Commit();
  return counts;
}

std::vector<std::int64_t> EncodeBytes(std::string_view text) {
  std::vector<std::int64_t> ids;
  ids.reserve(text.size());
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  return ids;
}

std::string DecodeBytes(std::span<const std::int64_t> ids) {
  std::string text;
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= kByteVocabSize) {
      throw std::invalid_argument("id " + std::to_string(id) +
                                  ": not a byte; only ids from 0 to 255 are text");
    }
    text += static_cast<char>(id);
  }
  return text;
}

}  // namespace agoq
