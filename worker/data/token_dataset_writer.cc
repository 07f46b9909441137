#include "worker/data/token_dataset_writer.h"

#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "worker/data/token_index.h"

namespace agoq {
namespace {

template <typename T>
void AppendValue(DurableFile& file, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  file.Append(std::as_bytes(std::span(&value, 1)));
}

std::int64_t LargestId(TokenWidth width) {
  return width == TokenWidth::k16Bit ? std::numeric_limits<std::uint16_t>::max()
                                     : std::numeric_limits<std::int32_t>::max();
}

// Sequences are counted in 32 bits by the format.
constexpr std::int64_t kLongestSequence = std::numeric_limits<std::int32_t>::max();

}  // namespace

TokenDatasetWriter::TokenDatasetWriter(const std::string& prefix, TokenWidth width)
    : width_(width), ids_(prefix + ".bin"), index_(prefix + ".idx") {}

void TokenDatasetWriter::Append(std::span<const std::int64_t> ids) {
  const std::int64_t largest = LargestId(width_);
  for (const std::int64_t id : ids) {
    if (id < 0 || id > largest) {
      throw std::invalid_argument(ids_.path() + ": position " + std::to_string(num_tokens_) +
                                  ": id " + std::to_string(id) + ": the width of " +
                                  std::to_string(8 * BytesOf(width_)) + " bits holds 0 to " +
                                  std::to_string(largest) + "; write 32-bit ids");
    }
    if (open_length_ == kLongestSequence) CloseSequence();
    if (width_ == TokenWidth::k16Bit) AppendValue(ids_, static_cast<std::uint16_t>(id));
    if (width_ == TokenWidth::k32Bit) AppendValue(ids_, static_cast<std::int32_t>(id));
    ++open_length_;
    ++num_tokens_;
  }
}

void TokenDatasetWriter::CloseSequence() {
  lengths_.push_back(static_cast<std::int32_t>(open_length_));
  open_length_ = 0;
  ++open_sequences_;
}

void TokenDatasetWriter::EndDocument() {
  if (open_length_ > 0 || open_sequences_ == 0) CloseSequence();
  open_sequences_ = 0;
  bounds_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

void TokenDatasetWriter::WriteIndex() {
  index_.Append(std::as_bytes(std::span(kTokenIndexMagic, kTokenIndexMagicBytes)));
  AppendValue(index_, std::uint64_t{1});
  AppendValue(index_, static_cast<std::uint8_t>(width_));
  AppendValue(index_, static_cast<std::uint64_t>(lengths_.size()));
  AppendValue(index_, static_cast<std::uint64_t>(bounds_.size()));
  for (const std::int32_t length : lengths_) AppendValue(index_, length);
  std::int64_t pointer = 0;
  for (const std::int32_t length : lengths_) {
    AppendValue(index_, pointer);
    pointer += length * BytesOf(width_);
  }
  for (const std::int64_t bound : bounds_) AppendValue(index_, bound);
}

void TokenDatasetWriter::Finish() {
  if (finished_) return;
  finished_ = true;
  if (open_length_ > 0 || open_sequences_ > 0) EndDocument();
  WriteIndex();
  ids_.Finish();
  index_.Finish();
}

void TokenDatasetWriter::Commit() {
  Finish();
  std::filesystem::remove(index_.path());
  ids_.Commit();
  index_.Commit();
  const std::string folder = std::filesystem::path(index_.path()).parent_path().string();
  SyncFolder(folder.empty() ? "." : folder);
}

}  // namespace agoq
