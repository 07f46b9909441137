// A loader's batch as the model takes it.
#pragma once

#include "worker/data/batch.h"
#include "worker/model/token_batch.h"

namespace agoq {

// Views of the batch's tensors.
inline TokenBatch TokenBatchOf(const Batch& batch) {
  return {.ids_T = batch.ids_BT.view({-1}),
          .targets_T = batch.targets_BT.view({-1}),
          .positions_T = batch.positions_BT.view({-1}),
          .batch = batch.ids_BT.size(0),
          .sequence = batch.ids_BT.size(1)};
}

}  // namespace agoq
