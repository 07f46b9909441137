#include "worker/train/safetensors.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

namespace agoq {
namespace {

using Json = nlohmann::json;

struct TypeName {
  at::ScalarType type;
  const char* name;
  std::int64_t num_bytes;
};
constexpr std::array<TypeName, 5> kTypes = {{{at::ScalarType::Float, "F32", 4},
                                             {at::ScalarType::Double, "F64", 8},
                                             {at::ScalarType::BFloat16, "BF16", 2},
                                             {at::ScalarType::Byte, "U8", 1},
                                             {at::ScalarType::Long, "I64", 8}}};

// Header, tensor, shape: its sizes are the deepest.
constexpr int kMaxHeaderDepth = 3;

[[noreturn]] void Fail(const std::string& path, const std::string& finding) {
  throw std::runtime_error(path + ": " + finding +
                           "; the file is damaged: restore it, or use another checkpoint");
}

const TypeName* FindType(const std::string& name) {
  for (const TypeName& type : kTypes) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

std::int64_t HeaderBytes(const MappedFile& file) {
  const std::uint64_t file_bytes = file.bytes().size();
  std::uint64_t header_bytes = 0;
  if (file_bytes < sizeof(header_bytes)) {
    Fail(file.path(), "has " + std::to_string(file_bytes) + " bytes, fewer than a header's length");
  }
  std::memcpy(&header_bytes, file.bytes().data(), sizeof(header_bytes));
  if (header_bytes < 2 || header_bytes > static_cast<std::uint64_t>(kMaxSafetensorsHeaderBytes)) {
    Fail(file.path(), "header length is " + std::to_string(header_bytes) + ", not 2 to " +
                          std::to_string(kMaxSafetensorsHeaderBytes));
  }
  if (header_bytes > file_bytes - sizeof(header_bytes)) {
    Fail(file.path(), "header length is " + std::to_string(header_bytes) + ", the file has " +
                          std::to_string(file_bytes) + " bytes");
  }
  return static_cast<std::int64_t>(header_bytes);
}

Json ParseHeader(const MappedFile& file, std::int64_t header_bytes) {
  const char* text = reinterpret_cast<const char*>(file.bytes().data() + sizeof(std::uint64_t));
  // Parsed values take some 70 times the bytes of the brackets that nest them.
  const auto limit_depth = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMaxHeaderDepth) Fail(file.path(), "header is nested too deeply");
    return true;
  };
  Json header = Json::parse(text, text + header_bytes, limit_depth, /*allow_exceptions=*/false);
  if (!header.is_object()) Fail(file.path(), "header is not a JSON object");
  return header;
}

std::optional<std::int64_t> AsCount(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

// The fields of one tensor, each looked at before it is believed.
class EntryReader {
 public:
  EntryReader(const std::string& path, std::string name, const Json& value)
      : path_(path), name_(std::move(name)), value_(value) {}

  SafetensorsEntry Read(std::int64_t data_bytes) const {
    const TypeName& type = Type();
    SafetensorsEntry entry = {.name = name_, .type = type.type, .shape = Shape()};
    const auto [begin, end] = Offsets(data_bytes);
    entry.offset = begin;
    entry.num_bytes = end - begin;
    const std::optional<std::int64_t> expected = Bytes(entry.shape, type.num_bytes);
    if (expected != entry.num_bytes) {
      Bad("data_offsets", "span " + std::to_string(entry.num_bytes) + " bytes, its shape needs " +
                              (expected ? std::to_string(*expected) : "more than any file has"));
    }
    return entry;
  }

 private:
  [[noreturn]] void Bad(const char* field, const std::string& finding) const {
    Fail(path_, "tensor " + name_ + ": " + field + ": " + finding);
  }

  const Json& Field(const char* field) const {
    if (!value_.is_object() || !value_.contains(field)) Bad(field, "is missing");
    return value_.at(field);
  }

  const TypeName& Type() const {
    const Json& field = Field("dtype");
    const TypeName* type = field.is_string() ? FindType(field.get<std::string>()) : nullptr;
    if (type == nullptr) Bad("dtype", field.dump() + " is none of F32, F64, BF16, U8, I64");
    return *type;
  }

  std::vector<std::int64_t> Shape() const {
    const Json& field = Field("shape");
    if (!field.is_array()) Bad("shape", "is not a list");
    std::vector<std::int64_t> shape;
    for (const Json& dim : field) {
      const std::optional<std::int64_t> size = AsCount(dim);
      if (!size) Bad("shape", dim.dump() + " is not a size");
      shape.push_back(*size);
    }
    return shape;
  }

  std::pair<std::int64_t, std::int64_t> Offsets(std::int64_t data_bytes) const {
    const Json& field = Field("data_offsets");
    if (!field.is_array() || field.size() != 2) Bad("data_offsets", "is not a pair");
    const std::optional<std::int64_t> begin = AsCount(field[0]);
    const std::optional<std::int64_t> end = AsCount(field[1]);
    if (!begin || !end || *begin > *end || *end > data_bytes) {
      Bad("data_offsets", field.dump() + " is not a range within the " +
                              std::to_string(data_bytes) + " bytes of tensors");
    }
    return {*begin, *end};
  }

  // Sizes beside a zero are multiplied too: they must not overflow a tensor's strides.
  static std::optional<std::int64_t> Bytes(const std::vector<std::int64_t>& shape,
                                           std::int64_t element_bytes) {
    std::int64_t bytes = element_bytes;
    bool is_empty = false;
    for (const std::int64_t dim : shape) {
      if (dim == 0) is_empty = true;
      if (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
    }
    return is_empty ? 0 : bytes;
  }

  const std::string& path_;
  const std::string name_;
  const Json& value_;
};

void RequireNoOverlap(const std::string& path, const std::vector<SafetensorsEntry>& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const SafetensorsEntry& before = entries[i - 1];
    if (entries[i].offset >= before.offset + before.num_bytes) continue;
    Fail(path, "tensors " + before.name + " and " + entries[i].name + " overlap");
  }
}

}  // namespace

std::string SafetensorsTypeName(at::ScalarType type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return known.name;
  }
  return "";
}

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
  const std::int64_t header_bytes = HeaderBytes(file_);
  const std::int64_t data_start = static_cast<std::int64_t>(sizeof(std::uint64_t)) + header_bytes;
  const std::int64_t data_bytes = static_cast<std::int64_t>(file_.bytes().size()) - data_start;
  const Json header = ParseHeader(file_, header_bytes);
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) Fail(path, "__metadata__ is not a JSON object");
      for (const auto& [key, text] : value.items()) {
        metadata_[key] = text.is_string() ? text.get<std::string>() : text.dump();
      }
      continue;
    }
    entries_.push_back(EntryReader(path, name, value).Read(data_bytes));
    entries_.back().offset += data_start;
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return std::pair(a.offset, a.num_bytes) < std::pair(b.offset, b.num_bytes);
            });
  RequireNoOverlap(path, entries_);
}

at::Tensor SafetensorsFile::Load(const SafetensorsEntry& entry) const {
  const at::Tensor tensor = at::empty(entry.shape, entry.type);
  if (entry.num_bytes > 0) {
    std::memcpy(tensor.mutable_data_ptr(), file_.bytes().data() + entry.offset,
                static_cast<std::size_t>(entry.num_bytes));
  }
  return tensor;
}

at::Tensor SafetensorsFile::Load(const std::string& name) const {
  for (const SafetensorsEntry& entry : entries_) {
    if (entry.name == name) return Load(entry);
  }
  throw std::out_of_range(path() + ": has no tensor " + name);
}

}  // namespace agoq
