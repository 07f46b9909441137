#include "worker/model/attention_kernel.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>

namespace agoq {
namespace {

// [T, heads * head_size] as ATen wants it: [B, heads, S, head_size], a view.
at::Tensor ByHead(const at::Tensor& x_TE, const AttentionDims& dims) {
  const std::int64_t heads = x_TE.size(1) / dims.head_size;
  const std::int64_t row = x_TE.stride(0);
  return x_TE.as_strided({dims.batch, heads, dims.sequence, dims.head_size},
                         {dims.sequence * row, dims.head_size, row, 1});
}

// The way back, for ATen's outputs, whose memory is [B, S, heads, head_size].
at::Tensor ByToken(const at::Tensor& x_BHSd, const AttentionDims& dims) {
  return x_BHSd.transpose(1, 2).view({dims.batch * dims.sequence, x_BHSd.size(1) * dims.head_size});
}

}  // namespace

AttentionOutput AttentionForward(const AttentionInputs& inputs, const AttentionDims& dims) {
  const auto [o_BHSd, lse_BHS] = at::_scaled_dot_product_flash_attention_for_cpu(
      ByHead(inputs.q_TQ, dims), ByHead(inputs.k_TK, dims), ByHead(inputs.v_TK, dims),
      /*dropout_p=*/0, /*is_causal=*/true);
  return {.o_TQ = ByToken(o_BHSd, dims), .lse_BHS = lse_BHS};
}

AttentionGradients AttentionBackward(const at::Tensor& grad_o_TQ, const AttentionInputs& inputs,
                                     const AttentionOutput& output, const AttentionDims& dims) {
  const auto [grad_q, grad_k, grad_v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      ByHead(grad_o_TQ, dims), ByHead(inputs.q_TQ, dims), ByHead(inputs.k_TK, dims),
      ByHead(inputs.v_TK, dims), ByHead(output.o_TQ, dims), output.lse_BHS,
      /*dropout_p=*/0, /*is_causal=*/true);
  return {.grad_q_TQ = ByToken(grad_q, dims),
          .grad_k_TK = ByToken(grad_k, dims),
          .grad_v_TK = ByToken(grad_v, dims)};
}

}  // namespace agoq
