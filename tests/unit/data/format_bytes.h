// The bytes of a data set spelled out, without the product's writer.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

namespace agoq {

// Little-endian, whatever the machine.
inline std::string LittleEndian(std::uint64_t value, int num_bytes) {
  std::string bytes;
  for (int i = 0; i < num_bytes; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

inline std::string U8(std::uint64_t value) { return LittleEndian(value, 1); }
inline std::string U16(std::uint64_t value) { return LittleEndian(value, 2); }
inline std::string I32(std::int64_t value) {
  return LittleEndian(static_cast<std::uint64_t>(value), 4);
}
inline std::string I64(std::int64_t value) {
  return LittleEndian(static_cast<std::uint64_t>(value), 8);
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The index of three sequences of 2, 0 and 3 tokens in two documents: (2, 0) and (3). Each field
// can be replaced by a damaged one.
struct IndexFields {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  std::string version = I64(1);
  std::string type = U8(8);
  std::string num_sequences = I64(3);
  std::string num_bounds = I64(3);
  std::string lengths = I32(2) + I32(0) + I32(3);
  std::string pointers = I64(0) + I64(4) + I64(4);
  std::string bounds = I64(0) + I64(2) + I64(3);
  std::string tail;

  std::string Bytes() const {
    return magic + version + type + num_sequences + num_bounds + lengths + pointers + bounds + tail;
  }
};

// Its ids, 16 bits each.
inline std::string FiveIds() { return U16(10) + U16(11) + U16(65535) + U16(13) + U16(14); }

}  // namespace agoq
