#include "proto/common/plan_codec.h"

#include <google/protobuf/util/json_util.h>

#include <array>
#include <optional>
#include <utility>

namespace agoq {
namespace {

class PlanDecoder {
 public:
  DecodedPlan Decode(const v1::BitPlan& message) {
    BitPlan& plan = decoded_.plan;
    plan.revision = message.revision();
    plan.hash = message.hash();
    plan.effective_step = message.effective_step();
    for (const v1::RankPlan& rank : message.ranks()) plan.ranks.push_back(DecodeRank(rank));
    return std::move(decoded_);
  }

 private:
  void Error(const std::string& place, const std::string& finding) {
    decoded_.errors.push_back(place + ": " + finding);
  }

  RankPlan DecodeRank(const v1::RankPlan& message) {
    RankPlan rank;
    rank.rank = message.rank();
    rank.stage = message.stage();
    rank.chunk = message.chunk();
    rank.budget_bytes = message.budget_bytes();
    rank.predicted_peak_bytes = message.predicted_peak_bytes();
    const std::string place = "plan of rank " + std::to_string(rank.rank);
    const std::int64_t count = message.layers_size();
    std::vector<bool> seen(static_cast<std::size_t>(count), false);
    rank.layers.resize(static_cast<std::size_t>(count));
    for (const v1::LayerPlan& layer : message.layers()) {
      const std::string layer_place = place + ", layer " + std::to_string(layer.layer());
      const auto index = static_cast<std::size_t>(layer.layer());
      if (layer.layer() < 0 || layer.layer() >= count || seen[index]) {
        Error(layer_place, "is there twice or leaves a gap; number " + std::to_string(count) +
                               " layers from 0 to " + std::to_string(count - 1));
        continue;
      }
      seen[index] = true;
      rank.layers[index] = DecodeLayer(layer, layer_place);
    }
    return rank;
  }

  LayerPlan DecodeLayer(const v1::LayerPlan& message, const std::string& place) {
    LayerPlan layer;
    layer.reason = message.reason();
    std::array<bool, kNumSites> seen{};
    for (const v1::SitePolicy& policy : message.sites()) {
      const std::optional<Site> site = SiteFromName(policy.site());
      if (!site) {
        Error(place, "site \"" + policy.site() + "\": not a site; use one of " + SiteNames());
        continue;
      }
      bool& is_seen = seen[static_cast<std::size_t>(*site)];
      if (is_seen) Error(place, "site " + policy.site() + ": is there twice; remove one entry");
      is_seen = true;
      layer.at(*site) = DecodePolicy(policy, place + ", site " + policy.site());
    }
    return layer;
  }

  SitePolicy DecodePolicy(const v1::SitePolicy& message, const std::string& place) {
    switch (message.kind()) {
      case v1::SitePolicy::FULL:
        return RefuseFormat(message, {PolicyKind::kFull, {}}, place);
      case v1::SitePolicy::RECOMPUTE:
        return RefuseFormat(message, {PolicyKind::kRecompute, {}}, place);
      case v1::SitePolicy::PACKED:
        break;
      default:
        Error(place, "kind " + std::to_string(message.kind()) +
                         ": not a kind; use FULL, PACKED or RECOMPUTE");
        return {};
    }
    const std::optional<Format> format = FormatFromName(message.format());
    if (!format) {
      Error(place,
            "format \"" + message.format() + "\": not a format; use one of " + FormatNames());
      return {};
    }
    const std::int64_t block = message.block() == 0 ? kActivationBlock : message.block();
    return {PolicyKind::kPacked, {*format, block}};
  }

  SitePolicy RefuseFormat(const v1::SitePolicy& message, const SitePolicy& policy,
                          const std::string& place) {
    if (!message.format().empty() || message.block() != 0) {
      Error(place, "format and block belong to kind PACKED; remove them or change the kind");
    }
    return policy;
  }

  static std::string SiteNames() {
    std::string names;
    for (Site site : kAllSites) names += (names.empty() ? "" : ", ") + std::string(NameOf(site));
    return names;
  }

  static std::string FormatNames() {
    std::string names;
    for (Format format : kAllFormats) {
      names += (names.empty() ? "" : ", ") + std::string(NameOf(format));
    }
    return names;
  }

  DecodedPlan decoded_;
};

void EncodePolicy(Site site, const SitePolicy& policy, v1::SitePolicy* message) {
  message->set_site(std::string(NameOf(site)));
  switch (policy.kind) {
    case PolicyKind::kFull:
      message->set_kind(v1::SitePolicy::FULL);
      return;
    case PolicyKind::kRecompute:
      message->set_kind(v1::SitePolicy::RECOMPUTE);
      return;
    case PolicyKind::kPacked:
      message->set_kind(v1::SitePolicy::PACKED);
      message->set_format(std::string(NameOf(policy.spec.format)));
      message->set_block(policy.spec.block);
      return;
  }
}

void EncodeRank(const RankPlan& rank, v1::RankPlan* message) {
  message->set_rank(rank.rank);
  message->set_stage(rank.stage);
  message->set_chunk(rank.chunk);
  message->set_budget_bytes(rank.budget_bytes);
  message->set_predicted_peak_bytes(rank.predicted_peak_bytes);
  for (std::size_t i = 0; i < rank.layers.size(); ++i) {
    v1::LayerPlan* layer = message->add_layers();
    layer->set_layer(static_cast<std::int64_t>(i));
    layer->set_reason(rank.layers[i].reason);
    for (Site site : kAllSites) EncodePolicy(site, rank.layers[i].at(site), layer->add_sites());
  }
}

}  // namespace

DecodedPlan DecodePlan(const v1::BitPlan& message) { return PlanDecoder().Decode(message); }

v1::BitPlan EncodePlan(const BitPlan& plan) {
  v1::BitPlan message;
  message.set_revision(plan.revision);
  message.set_hash(plan.hash);
  message.set_effective_step(plan.effective_step);
  for (const RankPlan& rank : plan.ranks) EncodeRank(rank, message.add_ranks());
  return message;
}

DecodedPlan PlanFromJson(std::string_view json, std::string_view source) {
  v1::BitPlan message;
  google::protobuf::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = true;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &message, options);
  if (!status.ok()) {
    return {{},
            {std::string(source) + ": not a BitPlan as JSON: " +
             std::string(status.message().data(), status.message().size()) +
             "; write it like the output of a plan"}};
  }
  DecodedPlan decoded = DecodePlan(message);
  for (std::string& error : decoded.errors) error = std::string(source) + ": " + error;
  return decoded;
}

std::string PlanToJson(const BitPlan& plan) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = false;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(EncodePlan(plan), &json, options);
  return status.ok() ? json : "";
}

ModelShape ShapeFromSpec(const v1::ModelSpec& model) {
  ModelShape shape;
  shape.vocab_size = model.vocab_size();
  shape.hidden_size = model.hidden_size();
  shape.num_layers = model.num_hidden_layers();
  shape.num_heads = model.num_attention_heads();
  shape.num_kv_heads =
      model.num_key_value_heads() > 0 ? model.num_key_value_heads() : shape.num_heads;
  shape.head_size = model.head_dim();
  if (shape.head_size == 0 && shape.num_heads > 0) {
    shape.head_size = shape.hidden_size / shape.num_heads;
  }
  shape.ffn_size = model.intermediate_size();
  shape.max_positions = model.max_position_embeddings();
  shape.tied_head = model.tie_word_embeddings();
  shape.norm_epsilon = model.rms_norm_eps();
  shape.rope_theta = model.rope_theta();
  shape.init_std = model.initializer_range();
  return shape;
}

v1::ModelSpec SpecFromShape(const ModelShape& shape) {
  v1::ModelSpec model;
  model.set_vocab_size(shape.vocab_size);
  model.set_hidden_size(shape.hidden_size);
  model.set_intermediate_size(shape.ffn_size);
  model.set_num_hidden_layers(shape.num_layers);
  model.set_num_attention_heads(shape.num_heads);
  model.set_num_key_value_heads(shape.num_kv_heads);
  model.set_head_dim(shape.head_size);
  model.set_max_position_embeddings(shape.max_positions);
  model.set_rms_norm_eps(shape.norm_epsilon);
  model.set_rope_theta(shape.rope_theta);
  model.set_tie_word_embeddings(shape.tied_head);
  model.set_initializer_range(shape.init_std);
  return model;
}

}  // namespace agoq
