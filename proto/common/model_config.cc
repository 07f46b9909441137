#include "proto/common/model_config.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "proto/common/field_text.h"
#include "proto/common/message_rules.h"
#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

using google::protobuf::FieldDescriptor;
using nlohmann::json;

// What a key that changes the maths must hold; null and absence are always as good.
struct FixedKey {
  const char* name;
  json value;
  const char* meaning;
};

const std::vector<FixedKey>& FixedKeys() {
  static const std::vector<FixedKey> keys = {
      {"model_type", "llama", "only Llama models are known"},
      {"hidden_act", "silu", "the MLP's gate is SiLU"},
      {"attention_bias", false, "attention projections have no bias"},
      {"mlp_bias", false, "MLP projections have no bias"},
      {"attention_dropout", 0.0, "there is no dropout"},
      {"hidden_dropout", 0.0, "there is no dropout"},
      {"rope_scaling", nullptr, "rotary positions are not scaled"},
      {"rope_interleaved", false, "rotary pairs are the two halves of a head"},
      {"partial_rotary_factor", 1.0, "rotary positions cover the whole head"},
      {"sliding_window", nullptr, "attention sees all earlier tokens"},
      {"use_sliding_window", false, "attention sees all earlier tokens"},
      {"attention_multiplier", nullptr, "scores are divided by the root of the head's size"},
      {"residual_multiplier", 1.0, "residuals are not scaled"},
      {"embedding_multiplier", 1.0, "embeddings are not scaled"},
      {"logits_scaling", 1.0, "logits are not scaled"},
      {"final_logit_softcapping", nullptr, "logits are not capped"},
      {"attn_logit_softcapping", nullptr, "scores are not capped"},
      {"use_qk_norm", false, "queries and keys are not normalised"},
      {"num_local_experts", nullptr, "the MLP has no experts"},
      {"quantization_config", nullptr, "weights are not quantized"},
  };
  return keys;
}

const std::set<std::string>& IgnoredKeys() {
  static const std::set<std::string> keys = {"_name_or_path",
                                             "name_or_path",
                                             "transformers_version",
                                             "torch_dtype",
                                             "dtype",
                                             "use_cache",
                                             "bos_token_id",
                                             "eos_token_id",
                                             "pad_token_id",
                                             "unk_token_id",
                                             "sep_token_id",
                                             "decoder_start_token_id",
                                             "pretraining_tp",
                                             "gradient_checkpointing",
                                             "return_dict",
                                             "return_dict_in_generate",
                                             "output_attentions",
                                             "output_hidden_states",
                                             "output_scores",
                                             "torchscript",
                                             "use_bfloat16",
                                             "tokenizer_class",
                                             "id2label",
                                             "label2id",
                                             "problem_type",
                                             "task_specific_params",
                                             "max_length",
                                             "min_length",
                                             "do_sample",
                                             "temperature",
                                             "top_k",
                                             "top_p",
                                             "typical_p",
                                             "num_beams",
                                             "num_beam_groups",
                                             "num_return_sequences",
                                             "length_penalty",
                                             "diversity_penalty",
                                             "repetition_penalty",
                                             "early_stopping",
                                             "no_repeat_ngram_size",
                                             "encoder_no_repeat_ngram_size",
                                             "chunk_size_feed_forward",
                                             "finetuning_task",
                                             "prefix",
                                             "auto_map",
                                             "architectures",
                                             "_attn_implementation",
                                             "attn_implementation",
                                             "_commit_hash",
                                             "is_llama_config",
                                             "rope_parameters",
                                             "layer_types"};
  return keys;
}

std::string Shown(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

class ConfigReader {
 public:
  ConfigReader(const json& config, std::string file) : config_(config), file_(std::move(file)) {}

  ModelConfigReading Read() {
    for (const auto& [key, value] : config_.items()) ReadKey(key, value);
    CheckArchitectures();
    CheckLayerTypes();
    ReadRopeParameters();
    FillDefaults(&reading_.model);
    for (SpecError error : CheckRules(reading_.model)) {
      if (HasErrorAt(error.key)) continue;
      error.file = file_;
      reading_.errors.push_back(error);
    }
    return std::move(reading_);
  }

 private:
  void Error(const std::string& key, const json& value, const std::string& problem) {
    reading_.errors.push_back({file_, 0, key, Shown(value), problem});
  }

  bool HasErrorAt(const std::string& key) const {
    for (const SpecError& error : reading_.errors) {
      if (error.key == key) return true;
    }
    return false;
  }

  void ReadKey(const std::string& key, const json& value) {
    const FieldDescriptor* field = v1::ModelSpec::descriptor()->FindFieldByName(key);
    if (field != nullptr && key != "config") {
      if (!value.is_null()) ReadField(*field, value);
      return;
    }
    for (const FixedKey& fixed : FixedKeys()) {
      if (key == fixed.name) {
        CheckFixed(fixed, value);
        return;
      }
    }
    if (IgnoredKeys().count(key) != 0 || value.is_null() || value == json(false)) return;
    Error(key, value, "not known to agoq, and may change the maths; remove the key if it does not");
  }

  void ReadField(const FieldDescriptor& field, const json& value) {
    const bool wants_bool = field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    if (wants_bool ? !value.is_boolean() : !value.is_number()) {
      Error(field.name(), value, wants_bool ? "must be true or false" : "must be a number");
      return;
    }
    const std::string problem = SetFromText(field, Shown(value), &reading_.model);
    if (!problem.empty()) Error(field.name(), value, problem);
  }

  void CheckFixed(const FixedKey& fixed, const json& value) {
    if (value.is_null() || value == fixed.value) return;
    const bool is_plain_rope =
        std::string_view(fixed.name) == "rope_scaling" && value.is_object() && IsDefaultRope(value);
    if (is_plain_rope) return;
    Error(fixed.name, value,
          "not supported: " + std::string(fixed.meaning) + " in agoq; it must be " +
              (fixed.value.is_null() ? "null or absent" : Shown(fixed.value)));
  }

  static bool IsDefaultRope(const json& rope) {
    for (const auto& [key, value] : rope.items()) {
      const bool is_type = key == "rope_type" || key == "type";
      if (is_type ? value != "default" : key != "rope_theta") return false;
    }
    return true;
  }

  void CheckArchitectures() {
    const auto found = config_.find("architectures");
    if (found == config_.end() || found->is_null()) return;
    if (*found == json::array({"LlamaForCausalLM"})) return;
    Error("architectures", *found, "not supported: it must be [\"LlamaForCausalLM\"]");
  }

  void CheckLayerTypes() {
    const auto found = config_.find("layer_types");
    if (found == config_.end() || found->is_null()) return;
    for (const json& type : *found) {
      if (type == "full_attention") continue;
      Error("layer_types", type, "not supported: every layer must be \"full_attention\"");
      return;
    }
  }

  // The newer place of rope_theta.
  void ReadRopeParameters() {
    const auto found = config_.find("rope_parameters");
    if (found == config_.end() || found->is_null()) return;
    if (!found->is_object() || !IsDefaultRope(*found)) {
      Error("rope_parameters", *found,
            "not supported: rotary positions are not scaled in agoq; keep rope_theta and "
            "rope_type \"default\" alone");
      return;
    }
    const auto theta = found->find("rope_theta");
    if (theta == found->end() || theta->is_null()) return;
    const auto top = config_.find("rope_theta");
    if (top != config_.end() && !top->is_null() && *top != *theta) {
      Error("rope_parameters", *found, "its rope_theta differs from rope_theta; keep one of them");
      return;
    }
    ReadField(*v1::ModelSpec::descriptor()->FindFieldByName("rope_theta"), *theta);
  }

  const json& config_;
  const std::string file_;
  ModelConfigReading reading_;
};

}  // namespace

ModelConfigReading ReadModelConfig(std::string_view text, const std::string& file) {
  ModelConfigReading reading;
  json config;
  try {
    config = json::parse(text);
  } catch (const json::exception& error) {
    reading.errors.push_back(
        {file, 0, "", "", std::string("not JSON: ") + error.what() + "; correct it"});
    return reading;
  }
  if (!config.is_object()) {
    reading.errors.push_back({file, 0, "", "", "must be one JSON object, like config.json"});
    return reading;
  }
  return ConfigReader(config, file).Read();
}

std::string ModelConfigJson(const v1::ModelSpec& model, std::string_view torch_dtype) {
  const ModelShape shape = ShapeFromSpec(model);
  nlohmann::ordered_json config;
  config["architectures"] = {"LlamaForCausalLM"};
  config["model_type"] = "llama";
  config["attention_bias"] = false;
  config["head_dim"] = shape.head_size;
  config["hidden_act"] = "silu";
  config["hidden_size"] = shape.hidden_size;
  config["initializer_range"] = shape.init_std;
  config["intermediate_size"] = shape.ffn_size;
  config["max_position_embeddings"] = shape.max_positions;
  config["mlp_bias"] = false;
  config["num_attention_heads"] = shape.num_heads;
  config["num_hidden_layers"] = shape.num_layers;
  config["num_key_value_heads"] = shape.num_kv_heads;
  config["rms_norm_eps"] = shape.norm_epsilon;
  config["rope_scaling"] = nullptr;
  config["rope_theta"] = shape.rope_theta;
  config["tie_word_embeddings"] = shape.tied_head;
  config["torch_dtype"] = torch_dtype;
  config["vocab_size"] = shape.vocab_size;
  return config.dump(2) + "\n";
}

}  // namespace agoq
