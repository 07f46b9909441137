// The operations of Communicator, each reduced to one pairwise exchange of bytes; transports
// implement the exchange alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/comm/operation.h"

namespace agoq {

// One posted operation of one rank. Indexed by peer; the entry of the rank itself is unused.
struct Exchange {
  struct Peer {
    bool active = false;     // takes part: headers are exchanged with it even if no payload goes
    OperationHeader header;  // what is announced to it
    ConstBytes send;
    MutableBytes receive;
  };
  Operation operation = Operation::kBarrier;
  std::vector<Peer> peers;
};

class ExchangeCommunicator : public Communicator {
 public:
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::uint64_t sequence() const override { return sequence_; }
  std::uint64_t bytes_sent() const override { return bytes_sent_; }

  // Each throws std::invalid_argument, before anything is posted, for arguments that cannot be
  // right on this rank alone.
  std::unique_ptr<Work> AllToAll(std::vector<ConstBytes> send,
                                 std::vector<MutableBytes> receive) override;
  std::unique_ptr<Work> AllGather(ConstBytes send, std::vector<MutableBytes> receive) override;
  std::unique_ptr<Work> ReduceScatter(std::span<const float> send,
                                      std::span<float> receive) override;
  std::unique_ptr<Work> Send(int peer, ConstBytes bytes) override;
  std::unique_ptr<Work> Recv(int peer, MutableBytes bytes) override;
  std::unique_ptr<Work> Broadcast(int root, MutableBytes bytes) override;
  std::unique_ptr<Work> Barrier() override;

 protected:
  // `name` is hashed into every header.
  ExchangeCommunicator(int rank, int size, std::string_view name);

  // Posts and returns at once. A communicator that has failed returns a Work whose Wait throws the
  // reason.
  virtual std::unique_ptr<Work> Post(Exchange exchange) = 0;
  // Bytes of framing that the transport adds for each peer of an operation.
  virtual std::uint64_t header_bytes() const = 0;

 private:
  // Takes the next sequence number.
  Exchange MakeCollective(Operation operation);
  std::unique_ptr<Work> AnnounceAndPost(Exchange exchange);
  std::unique_ptr<Work> PostPointToPoint(Operation operation, int peer, ConstBytes send,
                                         MutableBytes receive);
  std::unique_ptr<Work> CountAndPost(Exchange exchange);
  void RequirePeer(Operation operation, int peer) const;

  const int rank_;
  const int size_;
  const std::uint32_t group_hash_;
  std::uint64_t sequence_ = 0;  // collectives
  std::uint64_t bytes_sent_ = 0;
  std::vector<std::uint64_t> sends_;     // to each peer
  std::vector<std::uint64_t> receives_;  // from each peer
};

}  // namespace agoq
