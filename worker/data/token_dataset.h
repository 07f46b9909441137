// Reader of a tokenized data set on disk: Megatron-Core's indexed dataset, PREFIX.bin + PREFIX.idx.
//
// PREFIX.idx, little-endian, unaligned: "MMIDIDX\0\0", version (u64, 1), type code (u8: 4 = int32,
// 8 = uint16), number of sequences (u64), number of document bounds (u64), then an int32 length per
// sequence, an int64 byte pointer into PREFIX.bin per sequence, and the int64 document bounds:
// document d is the sequences [bounds[d], bounds[d + 1]).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/data/mapped_file.h"

namespace agoq {

// Values are the format's type codes.
enum class TokenWidth : std::uint8_t { k32Bit = 4, k16Bit = 8 };
std::int64_t BytesOf(TokenWidth width);

// What the caller knows of the ids, for TokenDataset::RequireIdsBelow.
struct IdLimits {
  std::int64_t vocab_size = 0;  // of the model
  // Largest id that the data's maker states. A 16-bit file cannot hold every id of a vocabulary
  // above 65536, so such a vocabulary needs this statement.
  std::optional<std::int64_t> stated_largest_id;
};

// Memory-mapped and immutable: safe to read from several threads. Tokens are addressed by their
// position in the concatenation of all sequences, in index order.
class TokenDataset {
 public:
  struct InvalidId {
    std::int64_t position = 0;
    std::int64_t id = 0;
  };

  // Checks every field of the index against the sizes of both files. Throws std::runtime_error with
  // file, field, value and remedy. A data set without tokens opens.
  explicit TokenDataset(const std::string& prefix);

  const std::string& prefix() const { return prefix_; }
  TokenWidth width() const { return width_; }
  std::int64_t num_tokens() const { return num_tokens_; }
  std::int64_t num_documents() const { return num_documents_; }  // the empty ones included
  std::int64_t num_empty_documents() const { return num_empty_documents_; }

  // Fills `out` with the tokens from `position` on. Throws std::out_of_range past the end.
  void Read(std::int64_t position, std::span<std::int64_t> out) const;
  void Read(std::int64_t position, std::span<std::int32_t> out) const;

  // Positions of first tokens of documents inside [begin, end), ascending; documents without tokens
  // have none. The span stays valid with the data set.
  std::span<const std::int64_t> DocumentStarts(std::int64_t begin, std::int64_t end) const;

  // First id that is negative or not below `limit`; reads the whole file once.
  std::optional<InvalidId> FindInvalidId(std::int64_t limit) const;

  // The check at the door: width against vocabulary, then every id. Throws std::invalid_argument
  // that names file, position, id and the largest id allowed.
  void RequireIdsBelow(const IdLimits& limits) const;

 private:
  struct Sequence {
    std::int64_t end = 0;  // position after its last token
    std::int64_t byte_offset = 0;
  };

  template <typename Out>
  void ReadAs(std::int64_t position, std::span<Out> out) const;

  std::string prefix_;
  MappedFile ids_;
  TokenWidth width_ = TokenWidth::k16Bit;
  std::int64_t num_tokens_ = 0;
  std::int64_t num_documents_ = 0;
  std::int64_t num_empty_documents_ = 0;
  std::vector<Sequence> sequences_;            // those with tokens
  std::vector<std::int64_t> document_starts_;  // of documents with tokens
};

}  // namespace agoq
