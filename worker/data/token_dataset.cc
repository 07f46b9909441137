#include "worker/data/token_dataset.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "worker/data/token_index.h"

namespace agoq {
namespace {

constexpr std::int64_t kLargest16BitId = 65535;

[[noreturn]] void Fail(const std::string& path, const std::string& finding) {
  throw std::runtime_error(path + ": " + finding +
                           "; the data set is damaged: make it again with agoq-trainer tokenize");
}

struct SequencePlace {
  std::int64_t length = 0;
  std::int64_t byte_offset = 0;
};

SequencePlace CheckedSequence(const TokenIndexView& index, std::int64_t sequence,
                              std::int64_t data_bytes, const std::string& path) {
  const std::string name = "sequence " + std::to_string(sequence);
  const std::int64_t length = index.length(sequence);
  const std::int64_t offset = index.pointer(sequence);
  if (length < 0) Fail(path, name + ": length is " + std::to_string(length));
  const std::int64_t width = BytesOf(index.width());
  if (offset < 0 || offset > data_bytes || length > (data_bytes - offset) / width) {
    Fail(path, name + ": pointer " + std::to_string(offset) + " and length " +
                   std::to_string(length) + " reach past the " + std::to_string(data_bytes) +
                   " bytes of the .bin file");
  }
  return {length, offset};
}

template <typename Stored, typename Out>
void CopyIds(const std::byte* bytes, std::span<Out> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored id;
    std::memcpy(&id, bytes + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<Out>(id);
  }
}

}  // namespace

std::int64_t BytesOf(TokenWidth width) { return width == TokenWidth::k16Bit ? 2 : 4; }

TokenDataset::TokenDataset(const std::string& prefix) : prefix_(prefix), ids_(prefix + ".bin") {
  const MappedFile index_file(prefix + ".idx");
  const TokenIndexView index(index_file);
  width_ = index.width();
  std::vector<std::int64_t> first_tokens = {0};  // of each sequence, and the end
  for (std::int64_t i = 0; i < index.num_sequences(); ++i) {
    const SequencePlace place = CheckedSequence(
        index, i, static_cast<std::int64_t>(ids_.bytes().size()), index_file.path());
    num_tokens_ += place.length;
    first_tokens.push_back(num_tokens_);
    if (place.length > 0) sequences_.push_back({num_tokens_, place.byte_offset});
  }
  num_documents_ = index.num_bounds() - 1;
  for (std::int64_t i = 0; i < index.num_bounds(); ++i) {
    const std::int64_t bound = index.bound(i);
    const std::int64_t least = i == 0 ? 0 : index.bound(i - 1);
    const bool is_last = i + 1 == index.num_bounds();
    if (bound < least || bound > index.num_sequences() || (i == 0 && bound != 0) ||
        (is_last && bound != index.num_sequences())) {
      Fail(index_file.path(), "document bound " + std::to_string(i) + " is " +
                                  std::to_string(bound) + "; bounds rise from 0 to " +
                                  std::to_string(index.num_sequences()));
    }
    if (i == 0) continue;
    if (first_tokens[least] == first_tokens[bound]) {
      ++num_empty_documents_;
      continue;
    }
    document_starts_.push_back(first_tokens[least]);
  }
}

template <typename Out>
void TokenDataset::ReadAs(std::int64_t position, std::span<Out> out) const {
  const auto count = static_cast<std::int64_t>(out.size());
  if (position < 0 || count > num_tokens_ - position) {
    throw std::out_of_range(prefix_ + ": tokens " + std::to_string(position) + " to " +
                            std::to_string(position + count) + ": there are " +
                            std::to_string(num_tokens_));
  }
  auto sequence = std::upper_bound(
      sequences_.begin(), sequences_.end(), position,
      [](std::int64_t value, const Sequence& candidate) { return value < candidate.end; });
  while (!out.empty()) {
    const std::int64_t begin = sequence == sequences_.begin() ? 0 : std::prev(sequence)->end;
    const std::size_t part =
        std::min(out.size(), static_cast<std::size_t>(sequence->end - position));
    const std::byte* bytes =
        ids_.bytes().data() + sequence->byte_offset + (position - begin) * BytesOf(width_);
    if (width_ == TokenWidth::k16Bit) CopyIds<std::uint16_t>(bytes, out.first(part));
    if (width_ == TokenWidth::k32Bit) CopyIds<std::int32_t>(bytes, out.first(part));
    out = out.subspan(part);
    position += static_cast<std::int64_t>(part);
    ++sequence;
  }
}

void TokenDataset::Read(std::int64_t position, std::span<std::int64_t> out) const {
  ReadAs(position, out);
}

void TokenDataset::Read(std::int64_t position, std::span<std::int32_t> out) const {
  ReadAs(position, out);
}

std::span<const std::int64_t> TokenDataset::DocumentStarts(std::int64_t begin,
                                                           std::int64_t end) const {
  const auto first = std::lower_bound(document_starts_.begin(), document_starts_.end(), begin);
  const auto last = std::lower_bound(first, document_starts_.end(), end);
  return {first, last};
}

std::optional<TokenDataset::InvalidId> TokenDataset::FindInvalidId(std::int64_t limit) const {
  constexpr std::int64_t kPart = 65536;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(kPart, num_tokens_)));
  for (std::int64_t position = 0; position < num_tokens_; position += kPart) {
    ids.resize(static_cast<std::size_t>(std::min(kPart, num_tokens_ - position)));
    Read(position, std::span<std::int64_t>(ids));
    const auto bad = std::find_if(ids.begin(), ids.end(),
                                  [&](std::int64_t id) { return id < 0 || id >= limit; });
    if (bad != ids.end()) return InvalidId{position + (bad - ids.begin()), *bad};
  }
  return std::nullopt;
}

void TokenDataset::RequireIdsBelow(const IdLimits& limits) const {
  if (width_ == TokenWidth::k16Bit && limits.vocab_size > kLargest16BitId + 1 &&
      !limits.stated_largest_id.has_value()) {
    throw std::invalid_argument(
        prefix_ + ".bin: holds 16-bit ids, the model has " + std::to_string(limits.vocab_size) +
        " tokens: ids above 65535 may have been cut; write the data with 32-bit ids, or state the "
        "largest id");
  }
  if (width_ == TokenWidth::k16Bit && limits.stated_largest_id.value_or(0) > kLargest16BitId) {
    throw std::invalid_argument(prefix_ + ".bin: holds 16-bit ids, the largest id is stated as " +
                                std::to_string(*limits.stated_largest_id) +
                                ": write the data with 32-bit ids");
  }
  const std::optional<InvalidId> bad = FindInvalidId(limits.vocab_size);
  if (!bad.has_value()) return;
  throw std::invalid_argument(prefix_ + ".bin: position " + std::to_string(bad->position) +
                              ": id " + std::to_string(bad->id) +
                              ": outside of the vocabulary, the largest id allowed is " +
                              std::to_string(limits.vocab_size - 1) +
                              "; use the tokenizer of the model, or a larger vocab_size");
}

}  // namespace agoq
