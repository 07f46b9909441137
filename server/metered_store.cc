#include "server/metered_store.h"

#include <chrono>

namespace agoq {

absl::Status MeteredStore::Transaction(std::int64_t epoch,
                                       absl::FunctionRef<void(StoreWriter&)> write) {
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = store_.Transaction(epoch, write);
  metrics_.OnCommit(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (!status.ok()) metrics_.OnStoreError();
  return status;
}

}  // namespace agoq
