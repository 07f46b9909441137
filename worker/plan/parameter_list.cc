#include "worker/plan/parameter_list.h"

#include <utility>

namespace agoq {
namespace {

void AddBlock(const ModelShape& shape, std::int64_t layer, std::vector<ParameterInfo>& list) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const std::int64_t hidden = shape.hidden_size;
  list.push_back({prefix + "self_attn.q_proj.weight", {shape.query_size(), hidden}});
  list.push_back({prefix + "self_attn.k_proj.weight", {shape.kv_size(), hidden}});
  list.push_back({prefix + "self_attn.v_proj.weight", {shape.kv_size(), hidden}});
  list.push_back({prefix + "self_attn.o_proj.weight", {hidden, shape.query_size()}});
  list.push_back({prefix + "mlp.gate_proj.weight", {shape.ffn_size, hidden}});
  list.push_back({prefix + "mlp.up_proj.weight", {shape.ffn_size, hidden}});
  list.push_back({prefix + "mlp.down_proj.weight", {hidden, shape.ffn_size}});
  list.push_back({prefix + "input_layernorm.weight", {hidden}});
  list.push_back({prefix + "post_attention_layernorm.weight", {hidden}});
}

}  // namespace

std::int64_t ParameterInfo::num_elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return count;
}

std::int64_t ParameterList::num_elements() const {
  std::int64_t count = 0;
  for (const ParameterInfo& parameter : parameters) count += parameter.num_elements();
  return count;
}

ParameterList ListParameters(const ModelShape& shape) {
  ParameterList list;
  list.parameters.push_back({"model.embed_tokens.weight", {shape.vocab_size, shape.hidden_size}});
  for (std::int64_t layer = 0; layer < shape.num_layers; ++layer) {
    AddBlock(shape, layer, list.parameters);
  }
  list.final_norm = list.size();
  list.parameters.push_back({"model.norm.weight", {shape.hidden_size}});
  if (shape.tied_head) {
    list.head = ParameterList::embedding();
    return list;
  }
  list.head = list.size();
  list.parameters.push_back({"lm_head.weight", {shape.vocab_size, shape.hidden_size}});
  return list;
}

}  // namespace agoq
