// Where ranks that are threads of one process meet.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "worker/comm/exchange_communicator.h"

namespace agoq {

// Thread-safe. The last rank that posts an operation moves its bytes, so a posted operation needs
// no thread of its own and ranks may wait in any order. Bytes move under the lock: nobody can drop
// a buffer meanwhile.
class LocalHub {
 public:
  // One operation and the ranks that have posted it.
  struct Meeting {
    std::string name;  // "all_gather #3"
    std::vector<int> participants;
    std::map<int, Exchange> posted;
    bool complete = false;
  };

  explicit LocalHub(int size);

  int size() const { return static_cast<int>(ranks_.size()); }
  // Throws std::invalid_argument for a rank outside the group or one that has joined already.
  void Join(int rank);
  // The rank posts nothing more: operations that lack it fail.
  void Leave(int rank);

  std::shared_ptr<Meeting> Post(int rank, Exchange exchange);
  void Wait(const Meeting& meeting, int rank, CommClock::time_point deadline);
  // The rank's buffers are about to go.
  void Drop(const Meeting& meeting, int rank);
  // Ends the waits of all ranks; the first reason stays.
  void Fail(const std::string& reason);

 private:
  struct Rank {
    bool joined = false;
    bool left = false;
    std::string last_posted;  // empty: nothing yet
  };
  struct Key {  // from and to are -1 for collectives
    int from;
    int to;
    std::uint64_t sequence;
    auto operator<=>(const Key&) const = default;
  };

  // All with mutex_ held.
  void FailLocked(const std::string& reason);
  std::string Disagreement(const Meeting& meeting, int rank) const;
  std::string Missing(const Meeting& meeting) const;
  bool LacksALeaver(const Meeting& meeting) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Rank> ranks_;
  std::map<Key, std::shared_ptr<Meeting>> meetings_;  // shared with the Work of each rank
  std::string failure_;                               // empty while all is well
};

}  // namespace agoq
