#include "worker/train/checkpoint_manifest.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace agoq {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json ParsedOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json::parse(text);
}

std::string TextOrEmpty(const Json& value) { return value.is_null() ? "" : value.dump(); }

Json EncodeShard(const ManifestShard& shard) {
  Json tensors = Json::object();
  for (const SafetensorsEntry& entry : shard.tensors) {
    tensors[entry.name] = {{"type", SafetensorsTypeName(entry.type)},
                           {"shape", entry.shape},
                           {"offset", entry.offset},
                           {"bytes", entry.num_bytes}};
  }
  return {{"file", shard.file},
          {"bytes", shard.num_bytes},
          {"sha256", shard.sha256},
          {"tensors", std::move(tensors)}};
}

at::ScalarType TypeOf(const std::string& name) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kByte, at::kLong}) {
    if (SafetensorsTypeName(type) == name) return type;
  }
  throw std::invalid_argument("type " + name);
}

// A count that a damaged file may have made negative.
std::int64_t CountAt(const Json& object, const char* key) {
  const auto count = object.at(key).get<std::int64_t>();
  if (count >= 0) return count;
  throw std::invalid_argument(std::string(key) + " is " + std::to_string(count));
}

ManifestShard DecodeShard(const Json& value) {
  ManifestShard shard = {.file = value.at("file").get<std::string>(),
                         .num_bytes = CountAt(value, "bytes"),
                         .sha256 = value.at("sha256").get<std::string>()};
  if (shard.file.empty() || shard.file.find('/') != std::string::npos) {
    throw std::invalid_argument("shard file \"" + shard.file + "\" is not a plain name");
  }
  for (const auto& [name, tensor] : value.at("tensors").items()) {
    shard.tensors.push_back({.name = name,
                             .type = TypeOf(tensor.at("type").get<std::string>()),
                             .shape = tensor.at("shape").get<std::vector<std::int64_t>>(),
                             .offset = tensor.at("offset").get<std::int64_t>(),
                             .num_bytes = tensor.at("bytes").get<std::int64_t>()});
  }
  return shard;
}

CheckpointManifest Decode(const Json& value) {
  if (value.at("version").get<int>() != kVersion) {
    throw std::invalid_argument("version is " + value.at("version").dump() + ", not " +
                                std::to_string(kVersion));
  }
  CheckpointManifest manifest;
  Checkpoint& checkpoint = manifest.checkpoint;
  const Json& counters = value.at("counters");
  checkpoint.counters = {.step = CountAt(counters, "step"),
                         .tokens = CountAt(counters, "tokens"),
                         .skipped_steps = CountAt(counters, "skipped_steps"),
                         .elapsed_seconds = counters.at("elapsed_seconds").get<double>()};
  const Json& position = value.at("data_position");
  checkpoint.data_position = {.seed = position.at("seed").get<std::uint64_t>(),
                              .next_sample = CountAt(position, "next_sample")};
  const Json& mesh = value.at("mesh");
  checkpoint.mesh = {.data = CountAt(mesh, "data"),
                     .pipeline = CountAt(mesh, "pipeline"),
                     .tensor = CountAt(mesh, "tensor")};
  checkpoint.generation = value.at("generation").get<std::int64_t>();
  checkpoint.config_json = TextOrEmpty(value.at("config"));
  checkpoint.plan_json = TextOrEmpty(value.at("plan"));
  checkpoint.schedule_json = TextOrEmpty(value.at("schedule"));
  for (const Json& shard : value.at("shards")) {
    manifest.shards.push_back(DecodeShard(shard));
    checkpoint.shards.push_back({.file = manifest.shards.back().file});
  }
  return manifest;
}

}  // namespace

std::string EncodeManifest(const CheckpointManifest& manifest) {
  const Checkpoint& checkpoint = manifest.checkpoint;
  Json shards = Json::array();
  for (const ManifestShard& shard : manifest.shards) shards.push_back(EncodeShard(shard));
  const Json value = {{"version", kVersion},
                      {"counters",
                       {{"step", checkpoint.counters.step},
                        {"tokens", checkpoint.counters.tokens},
                        {"skipped_steps", checkpoint.counters.skipped_steps},
                        {"elapsed_seconds", checkpoint.counters.elapsed_seconds}}},
                      {"data_position",
                       {{"seed", checkpoint.data_position.seed},
                        {"next_sample", checkpoint.data_position.next_sample}}},
                      {"mesh",
                       {{"data", checkpoint.mesh.data},
                        {"pipeline", checkpoint.mesh.pipeline},
                        {"tensor", checkpoint.mesh.tensor}}},
                      {"generation", checkpoint.generation},
                      {"config", ParsedOrNull(checkpoint.config_json)},
                      {"plan", ParsedOrNull(checkpoint.plan_json)},
                      {"schedule", ParsedOrNull(checkpoint.schedule_json)},
                      {"shards", std::move(shards)}};
  return value.dump(1) + "\n";
}

CheckpointManifest DecodeManifest(std::string_view text, const std::string& path) {
  try {
    return Decode(Json::parse(text));
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": not a checkpoint's manifest: " + error.what() +
                             "; use another checkpoint");
  }
}

}  // namespace agoq
