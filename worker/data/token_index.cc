#include "worker/data/token_index.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace agoq {
namespace {

constexpr std::int64_t kVersionOffset = 9;
constexpr std::int64_t kTypeOffset = 17;
constexpr std::int64_t kSequencesOffset = 18;
constexpr std::int64_t kBoundsOffset = 26;

template <typename T>
T Load(const MappedFile& file, std::int64_t offset) {
  T value;
  std::memcpy(&value, file.bytes().data() + offset, sizeof(T));
  return value;
}

[[noreturn]] void Fail(const MappedFile& file, const std::string& finding) {
  throw std::runtime_error(file.path() + ": " + finding +
                           "; the index is damaged or of another format: make the data set again "
                           "with agoq-trainer tokenize");
}

}  // namespace

TokenIndexView::TokenIndexView(const MappedFile& file) : file_(file) {
  CheckHeader();
  width_ = static_cast<TokenWidth>(Load<std::uint8_t>(file, kTypeOffset));
  num_sequences_ = Load<std::int64_t>(file, kSequencesOffset);
  num_bounds_ = Load<std::int64_t>(file, kBoundsOffset);
  CheckSize();
}

void TokenIndexView::CheckHeader() const {
  const auto size = static_cast<std::int64_t>(file_.bytes().size());
  if (size < kTokenIndexHeaderBytes) {
    Fail(file_, "has " + std::to_string(size) + " bytes, the header alone has " +
                    std::to_string(kTokenIndexHeaderBytes));
  }
  if (std::memcmp(file_.bytes().data(), kTokenIndexMagic, kTokenIndexMagicBytes) != 0) {
    Fail(file_, "magic is not MMIDIDX");
  }
  const auto version = Load<std::uint64_t>(file_, kVersionOffset);
  if (version != 1) Fail(file_, "version is " + std::to_string(version) + ", not 1");
  const int type = Load<std::uint8_t>(file_, kTypeOffset);
  if (type != static_cast<int>(TokenWidth::k32Bit) &&
      type != static_cast<int>(TokenWidth::k16Bit)) {
    Fail(file_, "type code is " + std::to_string(type) + ", neither 4 (int32) nor 8 (uint16)");
  }
}

// Bounds are compared before sums are made, so that no count of a damaged header overflows.
void TokenIndexView::CheckSize() const {
  constexpr std::int64_t kBytesPerSequence = 4 + 8;
  constexpr std::int64_t kBytesPerBound = 8;
  const std::int64_t left =
      static_cast<std::int64_t>(file_.bytes().size()) - kTokenIndexHeaderBytes;
  if (num_sequences_ < 0 || num_sequences_ > left / kBytesPerSequence) {
    Fail(file_, "number of sequences is " + std::to_string(num_sequences_) +
                    ", the file has room for " + std::to_string(left / kBytesPerSequence));
  }
  if (num_bounds_ < 1 || num_bounds_ > left / kBytesPerBound) {
    Fail(file_, "number of document bounds is " + std::to_string(num_bounds_) +
                    ", the file has room for " + std::to_string(left / kBytesPerBound) +
                    " and 1 at least is needed");
  }
  const std::int64_t expected = num_sequences_ * kBytesPerSequence + num_bounds_ * kBytesPerBound;
  if (expected != left) {
    Fail(file_, "has " + std::to_string(left) + " bytes of arrays, the header speaks of " +
                    std::to_string(expected));
  }
}

std::int64_t TokenIndexView::length(std::int64_t sequence) const {
  return Load<std::int32_t>(file_, kTokenIndexHeaderBytes + sequence * 4);
}

std::int64_t TokenIndexView::pointer(std::int64_t sequence) const {
  return Load<std::int64_t>(file_, kTokenIndexHeaderBytes + num_sequences_ * 4 + sequence * 8);
}

std::int64_t TokenIndexView::bound(std::int64_t index) const {
  return Load<std::int64_t>(file_, kTokenIndexHeaderBytes + num_sequences_ * 12 + index * 8);
}

}  // namespace agoq
