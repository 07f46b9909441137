// The model's weights, as Hugging Face names and shapes them, in storage as the engine wants it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "worker/plan/model_shape.h"
#include "worker/plan/parameter_list.h"

namespace agoq {

at::ScalarType ScalarTypeOf(ComputeType type);
// Type of statistics, losses, control gradients and optimizer states: fp32, or fp64 in an fp64
// engine.
at::ScalarType ControlTypeOf(ComputeType type);

struct BlockWeights {
  at::Tensor input_norm_D;
  at::Tensor qkv_ED;  // rows of q_proj, k_proj, v_proj
  at::Tensor o_DQ;
  at::Tensor post_norm_D;
  at::Tensor gate_up_2FD;  // rows of gate_proj, up_proj
  at::Tensor down_DF;
};

// All weights of one rank, and the same memory as a list of Hugging Face tensors.
class Parameters {
 public:
  // Memory of the right sizes, not initialised.
  Parameters(const ModelShape& shape, ComputeType compute);

  const ParameterList& list() const { return list_; }
  // In the order of list().
  const std::vector<at::Tensor>& tensors() const { return tensors_; }
  const at::Tensor& embedding_VD() const { return embedding_VD_; }
  const std::vector<BlockWeights>& blocks() const { return blocks_; }
  const at::Tensor& final_norm_D() const { return final_norm_D_; }
  const at::Tensor& head_VD() const { return head_VD_; }  // the embedding itself when tied

 private:
  ParameterList list_;
  at::Tensor embedding_VD_;
  std::vector<BlockWeights> blocks_;
  at::Tensor final_norm_D_;
  at::Tensor head_VD_;
  std::vector<at::Tensor> tensors_;
};

}  // namespace agoq
