// One micro-batch as the model sees it: B sequences of S tokens, one after the other; T = B S.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace agoq {

struct TokenBatch {
  at::Tensor ids_T;        // int64
  at::Tensor targets_T;    // int64; -100 does not count. Undefined where no loss is asked for
  at::Tensor positions_T;  // int64, of the rotary embedding
  std::int64_t batch = 0;
  std::int64_t sequence = 0;

  std::int64_t num_tokens() const { return batch * sequence; }
};

}  // namespace agoq
