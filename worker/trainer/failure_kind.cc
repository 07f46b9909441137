#include "worker/trainer/failure_kind.h"

#include <stdexcept>

#include "worker/comm/communicator.h"
#include "worker/memory/memory_ledger.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

template <typename Error>
bool Is(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) != nullptr;
}

}  // namespace

FailureKind KindOf(const std::exception& error, bool has_begun) {
  if (Is<UsageError>(error)) return FailureKind::kUser;
  if (Is<CommunicatorError>(error)) return FailureKind::kCollective;
  if (Is<OutOfMemory>(error)) return FailureKind::kOutOfMemory;
  if (Is<std::invalid_argument>(error)) return FailureKind::kUser;
  return Is<std::runtime_error>(error) && !has_begun ? FailureKind::kUser : FailureKind::kOther;
}

}  // namespace agoq
