#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "worker/data/durable_file.h"
#include "worker/train/safetensors.h"
#include "worker/train/sha256.h"

namespace agoq {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kAlignment = 8;

void Check(std::span<const NamedTensor> tensors) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (SafetensorsTypeName(tensor.scalar_type()).empty()) {
      throw std::invalid_argument("safetensors: " + name + " has a type that cannot be written");
    }
    if (!tensor.is_cpu()) {
      throw std::invalid_argument("safetensors: " + name + " is not on the CPU; copy it first");
    }
    if (name == "__metadata__" || !names.insert(name).second) {
      throw std::invalid_argument("safetensors: the name " + name + " is taken; give another one");
    }
  }
}

// Larger element types first, so that each tensor is aligned to its own.
std::vector<NamedTensor> Ordered(std::span<const NamedTensor> tensors) {
  std::vector<NamedTensor> ordered(tensors.begin(), tensors.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return a.tensor.element_size() > b.tensor.element_size();
  });
  return ordered;
}

std::string Header(const std::vector<SafetensorsEntry>& entries) {
  Json header;
  header["__metadata__"] = {{"format", "pt"}};
  for (const SafetensorsEntry& entry : entries) {
    header[entry.name] = {{"dtype", SafetensorsTypeName(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.offset, entry.offset + entry.num_bytes}}};
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

// A file and the hash of what went into it.
class HashedFile {
 public:
  explicit HashedFile(const std::string& path) : file_(path) {}

  void Append(std::span<const std::byte> bytes) {
    file_.Append(bytes);
    hash_.Update(bytes);
  }
  SafetensorsSummary Commit() {
    file_.Commit();
    return {.num_bytes = file_.num_bytes(), .sha256 = hash_.HexDigest()};
  }

 private:
  DurableFile file_;
  Sha256 hash_;
};

}  // namespace

SafetensorsSummary WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors) {
  Check(tensors);
  const std::vector<NamedTensor> ordered = Ordered(tensors);
  std::vector<SafetensorsEntry> entries;
  std::int64_t offset = 0;
  for (const auto& [name, tensor] : ordered) {
    const auto num_bytes = static_cast<std::int64_t>(tensor.nbytes());
    entries.push_back({name, tensor.scalar_type(), tensor.sizes().vec(), offset, num_bytes});
    offset += num_bytes;
  }
  const std::string header = Header(entries);
  const std::uint64_t header_bytes = header.size();
  HashedFile file(path);
  file.Append(std::as_bytes(std::span(&header_bytes, 1)));
  file.Append(std::as_bytes(std::span(header)));
  for (const auto& [name, tensor] : ordered) {
    const at::Tensor whole = tensor.contiguous();
    file.Append({static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()});
  }
  SafetensorsSummary summary = file.Commit();
  for (SafetensorsEntry& entry : entries) {
    entry.offset += static_cast<std::int64_t>(sizeof(header_bytes) + header_bytes);
  }
  summary.entries = std::move(entries);
  return summary;
}

}  // namespace agoq
