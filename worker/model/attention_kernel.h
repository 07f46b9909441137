// Causal attention over grouped heads by ATen's CPU flash attention, keys and values unexpanded.
// Shapes: B sequences, S tokens of each, T = B S; Q = num_heads head_size, K = num_kv_heads
// head_size.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace agoq {

struct AttentionDims {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_size = 0;
};

// Row-strided: views of a packed projection will do.
struct AttentionInputs {
  at::Tensor q_TQ;
  at::Tensor k_TK;
  at::Tensor v_TK;
};

struct AttentionOutput {
  at::Tensor o_TQ;
  at::Tensor lse_BHS;  // log of the sum of exponentials, fp32 (fp64 for fp64)
};

// softmax(q k^T / sqrt(head_size)) v, token by token over itself and the ones before it in its
// sequence.
AttentionOutput AttentionForward(const AttentionInputs& inputs, const AttentionDims& dims);

struct AttentionGradients {
  at::Tensor grad_q_TQ;
  at::Tensor grad_k_TK;
  at::Tensor grad_v_TK;
};

// Inputs and output may be restored copies: probabilities are exp(q k^T / sqrt(head_size) - lse)
// with the lse given.
AttentionGradients AttentionBackward(const at::Tensor& grad_o_TQ, const AttentionInputs& inputs,
                                     const AttentionOutput& output, const AttentionDims& dims);

}  // namespace agoq
