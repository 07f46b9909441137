// Hugging Face's config.json of a Llama <-> the inlined model of a job.
//
// Keys fall in four groups. Those that agoq uses are read. Those that would change the maths
// (rope_scaling, attention_bias, hidden_act, ...) are refused unless they hold the value that agoq
// computes with. Those of book-keeping (torch_dtype, eos_token_id, ...) are ignored. Any other key
// is ignored if it is null or false, which switches a feature off, else refused by name, since it
// may change the maths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/agoq/v1/job.pb.h"
#include "proto/common/spec_error.h"

namespace agoq {

struct ModelConfigReading {
  v1::ModelSpec model;
  std::vector<SpecError> errors;
};

// `file` names the text in errors.
ModelConfigReading ReadModelConfig(std::string_view json, const std::string& file);

// A config.json that Hugging Face's LlamaForCausalLM loads. `torch_dtype` is the type of the
// weights beside it, like "float32".
std::string ModelConfigJson(const v1::ModelSpec& model, std::string_view torch_dtype);

}  // namespace agoq
