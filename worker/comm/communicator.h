// Message passing along one axis of the mesh. Std only; implementations: local (ranks as threads)
// and Gloo (processes).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace agoq {

// A collective that failed. After it the communicator is finished and the attempt ends.
class CommunicatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using CommClock = std::chrono::steady_clock;

// A posted operation. Buffers handed to the operation must live until Wait returns or throws, or
// until the Work is destroyed; destroying it before Wait has returned ends the communicator.
class Work {
 public:
  virtual ~Work() = default;
  // Returns when the operation is complete on this rank. Throws CommunicatorError on time-out,
  // abort, a lost peer, or when the ranks do not agree on operation, size or sequence (the message
  // names each).
  virtual void Wait(CommClock::time_point deadline) = 0;
};

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// One object per rank and axis; used by one thread at a time, except Abort, which any thread may
// call. Every rank of the group calls the same operations in the same order; posting returns at
// once. Messages (Send, Recv) are ordered for each pair and direction apart, so only their two
// ranks post them. Operations posted before may be awaited in any order that is the same on all
// ranks. Arguments that cannot be right throw std::invalid_argument and nothing is posted.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Rank r gets send[r] of every rank: receive[s] is filled with what rank s sent to this rank;
  // sizes may differ by pair, and sender and receiver must name the same size. send[rank()] is
  // copied.
  virtual std::unique_ptr<Work> AllToAll(std::vector<ConstBytes> send,
                                         std::vector<MutableBytes> receive) = 0;
  // receive[s] gets rank s's `send`; sizes may differ by rank. receive[rank()] may be `send`
  // itself.
  virtual std::unique_ptr<Work> AllGather(ConstBytes send, std::vector<MutableBytes> receive) = 0;
  // receive = sum over ranks, in rank order, of the share of `send` that belongs to this rank.
  // Shares lie one after the other in `send`, ceil(elements / size()) each; the last ones may be
  // short or empty.
  virtual std::unique_ptr<Work> ReduceScatter(std::span<const float> send,
                                              std::span<float> receive) = 0;
  virtual std::unique_ptr<Work> Send(int peer, ConstBytes bytes) = 0;
  virtual std::unique_ptr<Work> Recv(int peer, MutableBytes bytes) = 0;
  virtual std::unique_ptr<Work> Broadcast(int root, MutableBytes bytes) = 0;
  virtual std::unique_ptr<Work> Barrier() = 0;

  // Number of collectives posted so far (all but Send and Recv); the same on all ranks at the same
  // point of the program.
  virtual std::uint64_t sequence() const = 0;
  // Payload and header bytes that this rank has handed to other ranks.
  virtual std::uint64_t bytes_sent() const = 0;
  // Ends every pending and later Wait of this rank with an error that carries `reason`, unless an
  // error came before; peers notice by their own abort, by the lost connection, or by time-out.
  virtual void Abort(const std::string& reason) = 0;
};

}  // namespace agoq
