// Ranks as threads of one process.
#pragma once

#include <memory>

#include "worker/comm/communicator.h"

namespace agoq {

class LocalHub;

// The ranks of one group. Thread-safe. Communicators share the hub, so the group may go before
// them.
//   LocalGroup group(2);
//   std::jthread peer([&] { Train(*group.Join(1)); });
//   Train(*group.Join(0));
class LocalGroup {
 public:
  // Throws std::invalid_argument when `size` is less than one.
  explicit LocalGroup(int size);

  // The communicator of one rank, for one thread; each rank joins once. A mismatch, a time-out or
  // an Abort on one rank ends the operations of all of them with the same reason; so does a
  // communicator that is destroyed while peers still wait for it.
  std::unique_ptr<Communicator> Join(int rank);

 private:
  std::shared_ptr<LocalHub> hub_;  // shared with the communicators handed out
};

}  // namespace agoq
