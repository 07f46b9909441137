// One small struct from every rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "worker/comm/communicator.h"

namespace agoq {

// The values of all ranks in rank order. Throws CommunicatorError as Work::Wait does.
template <typename T>
std::vector<T> AllGatherValues(Communicator& communicator, const T& value,
                               std::chrono::milliseconds timeout) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(static_cast<std::size_t>(communicator.size()));
  std::vector<MutableBytes> receive;
  for (T& slot : values) receive.push_back(std::as_writable_bytes(std::span(&slot, 1)));
  communicator.AllGather(std::as_bytes(std::span(&value, 1)), std::move(receive))
      ->Wait(CommClock::now() + timeout);
  return values;
}

}  // namespace agoq
