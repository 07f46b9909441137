#include "worker/model/parameters.h"

#include <ATen/ops/empty.h>

namespace agoq {

at::ScalarType ScalarTypeOf(ComputeType type) {
  switch (type) {
    case ComputeType::kFloat32:
      return at::kFloat;
    case ComputeType::kBFloat16:
      return at::kBFloat16;
    case ComputeType::kFloat64:
      return at::kDouble;
  }
  return at::kFloat;
}

at::ScalarType ControlTypeOf(ComputeType type) {
  return type == ComputeType::kFloat64 ? at::kDouble : at::kFloat;
}

Parameters::Parameters(const ModelShape& shape, ComputeType compute)
    : list_(ListParameters(shape)) {
  const at::ScalarType type = ScalarTypeOf(compute);
  const std::int64_t hidden = shape.hidden_size;
  const std::int64_t query = shape.query_size();
  const std::int64_t kv = shape.kv_size();
  const std::int64_t ffn = shape.ffn_size;
  embedding_VD_ = at::empty({shape.vocab_size, hidden}, type);
  tensors_.push_back(embedding_VD_);
  for (std::int64_t layer = 0; layer < shape.num_layers; ++layer) {
    const BlockWeights block = {.input_norm_D = at::empty({hidden}, type),
                                .qkv_ED = at::empty({shape.qkv_size(), hidden}, type),
                                .o_DQ = at::empty({hidden, query}, type),
                                .post_norm_D = at::empty({hidden}, type),
                                .gate_up_2FD = at::empty({2 * ffn, hidden}, type),
                                .down_DF = at::empty({hidden, ffn}, type)};
    blocks_.push_back(block);
    tensors_.insert(tensors_.end(),
                    {block.qkv_ED.narrow(0, 0, query), block.qkv_ED.narrow(0, query, kv),
                     block.qkv_ED.narrow(0, query + kv, kv), block.o_DQ,
                     block.gate_up_2FD.narrow(0, 0, ffn), block.gate_up_2FD.narrow(0, ffn, ffn),
                     block.down_DF, block.input_norm_D, block.post_norm_D});
  }
  final_norm_D_ = at::empty({hidden}, type);
  tensors_.push_back(final_norm_D_);
  head_VD_ = embedding_VD_;
  if (shape.tied_head) return;
  head_VD_ = at::empty({shape.vocab_size, hidden}, type);
  tensors_.push_back(head_VD_);
}

}  // namespace agoq
