// The index file of a token data set as values, checked. See token_dataset.h for the layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/data/mapped_file.h"
#include "worker/data/token_dataset.h"

namespace agoq {

inline constexpr char kTokenIndexMagic[] = "MMIDIDX\0";  // 9 bytes with the implied last zero
inline constexpr std::int64_t kTokenIndexMagicBytes = 9;
inline constexpr std::int64_t kTokenIndexHeaderBytes = 34;

// A view into the mapped index; the file must outlive it.
class TokenIndexView {
 public:
  // Checks header and array sizes; throws std::runtime_error with file, field, value, remedy.
  explicit TokenIndexView(const MappedFile& file);

  TokenWidth width() const { return width_; }
  std::int64_t num_sequences() const { return num_sequences_; }
  std::int64_t num_bounds() const { return num_bounds_; }
  // Not checked against the .bin file.
  std::int64_t length(std::int64_t sequence) const;
  std::int64_t pointer(std::int64_t sequence) const;
  std::int64_t bound(std::int64_t index) const;

 private:
  void CheckHeader() const;
  void CheckSize() const;

  const MappedFile& file_;
  TokenWidth width_ = TokenWidth::k16Bit;
  std::int64_t num_sequences_ = 0;
  std::int64_t num_bounds_ = 0;
};

}  // namespace agoq
