// Writer and reader of safetensors files: header length (u64, little-endian), JSON header, tensors.
// Types: F32, F64, BF16, U8, I64.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "worker/data/mapped_file.h"

namespace agoq {

// The format's own bound on the header.
inline constexpr std::int64_t kMaxSafetensorsHeaderBytes = 100'000'000;

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

struct SafetensorsEntry {
  std::string name;
  at::ScalarType type = at::ScalarType::Float;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // from the start of the file
  std::int64_t num_bytes = 0;
};

struct SafetensorsSummary {
  std::int64_t num_bytes = 0;  // of the file
  std::string sha256;          // of the file
  std::vector<SafetensorsEntry> entries;
};

// The format's name of a type ("F32"); empty when not supported.
std::string SafetensorsTypeName(at::ScalarType type);

// Tensors on CPU, of any strides. The larger element types go first, otherwise in the given order,
// so that each is aligned; metadata is {"format": "pt"}. The file appears whole or not at all; its
// folder is not synced. Throws std::invalid_argument (type, device, name twice) or
// std::runtime_error (file).
SafetensorsSummary WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors);

// Memory-mapped; trusts nothing in the header. Every damage is a std::runtime_error with file,
// field, value and remedy; nothing is allocated by a size that the file only claims.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::span<const std::byte> bytes() const { return file_.bytes(); }
  // In the order of their offsets.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // A copy in memory of its own. Load(name) throws std::out_of_range for a name that is not there.
  at::Tensor Load(const SafetensorsEntry& entry) const;
  at::Tensor Load(const std::string& name) const;

 private:
  MappedFile file_;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace agoq
