#include "worker/comm/exchange_communicator.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace agoq {
namespace {

void CopyOwn(ConstBytes send, MutableBytes receive) {
  if (!send.empty() && send.data() != receive.data()) {
    std::memmove(receive.data(), send.data(), send.size());
  }
}

void Require(bool holds, Operation operation, const std::string& problem) {
  if (!holds) throw std::invalid_argument(std::string(NameOf(operation)) + ": " + problem);
}

// For operations where a wrong size shows in some pairs only: announced to all, every rank sees it.
void AnnounceTotal(Exchange& exchange, std::size_t bytes) {
  for (Exchange::Peer& peer : exchange.peers) {
    peer.header.send_bytes = bytes;
    peer.header.receive_bytes = bytes;
  }
}

// Adds what each rank sent once it is there.
class ReduceScatterWork : public Work {
 public:
  ReduceScatterWork(std::vector<std::vector<float>> parts, std::span<float> receive)
      : parts_(std::move(parts)), receive_(receive) {}

  void set_exchange(std::unique_ptr<Work> exchange) { exchange_ = std::move(exchange); }
  std::vector<std::vector<float>>& parts() { return parts_; }

  void Wait(CommClock::time_point deadline) override {
    exchange_->Wait(deadline);
    std::copy(parts_[0].begin(), parts_[0].end(), receive_.begin());
    for (std::size_t r = 1; r < parts_.size(); ++r) {
      for (std::size_t i = 0; i < receive_.size(); ++i) receive_[i] += parts_[r][i];
    }
  }

 private:
  std::vector<std::vector<float>> parts_;
  const std::span<float> receive_;
  std::unique_ptr<Work> exchange_;  // writes to parts_: declared after it, so that it goes first
};

}  // namespace

ExchangeCommunicator::ExchangeCommunicator(int rank, int size, std::string_view name)
    : rank_(rank),
      size_(size),
      group_hash_(HashGroupName(name)),
      sends_(static_cast<std::size_t>(size)),
      receives_(static_cast<std::size_t>(size)) {}

std::unique_ptr<Work> ExchangeCommunicator::AllToAll(std::vector<ConstBytes> send,
                                                     std::vector<MutableBytes> receive) {
  const auto world = static_cast<std::size_t>(size_);
  Require(send.size() == world && receive.size() == world, Operation::kAllToAll,
          std::to_string(send.size()) + " send and " + std::to_string(receive.size()) +
              " receive buffers for " + std::to_string(size_) +
              " ranks; pass one of each for every rank");
  Require(send[rank_].size() == receive[rank_].size(), Operation::kAllToAll,
          "own part has " + std::to_string(send[rank_].size()) + " bytes to send and " +
              std::to_string(receive[rank_].size()) + " to receive; both must be equal");
  Exchange exchange = MakeCollective(Operation::kAllToAll);
  for (std::size_t peer = 0; peer < world; ++peer) {
    exchange.peers[peer].send = send[peer];
    exchange.peers[peer].receive = receive[peer];
  }
  CopyOwn(send[rank_], receive[rank_]);
  return AnnounceAndPost(std::move(exchange));
}

std::unique_ptr<Work> ExchangeCommunicator::AllGather(ConstBytes send,
                                                      std::vector<MutableBytes> receive) {
  const auto world = static_cast<std::size_t>(size_);
  Require(receive.size() == world, Operation::kAllGather,
          std::to_string(receive.size()) + " receive buffers for " + std::to_string(size_) +
              " ranks; pass one for every rank");
  Require(send.size() == receive[rank_].size(), Operation::kAllGather,
          "own part has " + std::to_string(send.size()) + " bytes to send and " +
              std::to_string(receive[rank_].size()) + " to receive; both must be equal");
  Exchange exchange = MakeCollective(Operation::kAllGather);
  for (std::size_t peer = 0; peer < world; ++peer) {
    exchange.peers[peer].send = send;
    exchange.peers[peer].receive = receive[peer];
  }
  CopyOwn(send, receive[rank_]);
  return AnnounceAndPost(std::move(exchange));
}

std::unique_ptr<Work> ExchangeCommunicator::ReduceScatter(std::span<const float> send,
                                                          std::span<float> receive) {
  const auto world = static_cast<std::size_t>(size_);
  const std::size_t share = (send.size() + world - 1) / world;
  const auto begin_of = [&](std::size_t r) { return std::min(r * share, send.size()); };
  const auto share_of = [&](std::size_t r) {
    return send.subspan(begin_of(r), begin_of(r + 1) - begin_of(r));
  };
  const std::span<const float> own = share_of(rank_);
  Require(receive.size() == own.size(), Operation::kReduceScatter,
          "rank " + std::to_string(rank_) + " receives " + std::to_string(receive.size()) +
              " elements, but its share of " + std::to_string(send.size()) + " over " +
              std::to_string(size_) + " ranks is " + std::to_string(own.size()));
  auto work = std::make_unique<ReduceScatterWork>(
      std::vector<std::vector<float>>(world, std::vector<float>(own.size())), receive);
  Exchange exchange = MakeCollective(Operation::kReduceScatter);
  for (std::size_t peer = 0; peer < world; ++peer) {
    exchange.peers[peer].send = std::as_bytes(share_of(peer));
    exchange.peers[peer].receive = std::as_writable_bytes(std::span(work->parts()[peer]));
  }
  CopyOwn(exchange.peers[rank_].send, exchange.peers[rank_].receive);
  AnnounceTotal(exchange, send.size_bytes());
  work->set_exchange(CountAndPost(std::move(exchange)));
  return work;
}

std::unique_ptr<Work> ExchangeCommunicator::Send(int peer, ConstBytes bytes) {
  RequirePeer(Operation::kSend, peer);
  return PostPointToPoint(Operation::kSend, peer, bytes, {});
}

std::unique_ptr<Work> ExchangeCommunicator::Recv(int peer, MutableBytes bytes) {
  RequirePeer(Operation::kRecv, peer);
  return PostPointToPoint(Operation::kRecv, peer, {}, bytes);
}

std::unique_ptr<Work> ExchangeCommunicator::Broadcast(int root, MutableBytes bytes) {
  Require(root >= 0 && root < size_, Operation::kBroadcast,
          "root " + std::to_string(root) + " is not a rank of 0.." + std::to_string(size_ - 1));
  Exchange exchange = MakeCollective(Operation::kBroadcast);
  for (int peer = 0; peer < size_; ++peer) {
    Exchange::Peer& part = exchange.peers[peer];
    if (rank_ == root) part.send = bytes;
    if (peer == root) part.receive = bytes;
    part.header.root = static_cast<std::uint16_t>(root);
  }
  AnnounceTotal(exchange, bytes.size());
  return CountAndPost(std::move(exchange));
}

std::unique_ptr<Work> ExchangeCommunicator::Barrier() {
  return AnnounceAndPost(MakeCollective(Operation::kBarrier));
}

Exchange ExchangeCommunicator::MakeCollective(Operation operation) {
  Exchange exchange{.operation = operation,
                    .peers = std::vector<Exchange::Peer>(static_cast<std::size_t>(size_))};
  for (int peer = 0; peer < size_; ++peer) {
    exchange.peers[peer].active = peer != rank_;
    exchange.peers[peer].header = {
        .sequence = sequence_, .operation = operation, .group_hash = group_hash_};
  }
  ++sequence_;
  return exchange;
}

std::unique_ptr<Work> ExchangeCommunicator::AnnounceAndPost(Exchange exchange) {
  for (Exchange::Peer& peer : exchange.peers) {
    peer.header.send_bytes = peer.send.size();
    peer.header.receive_bytes = peer.receive.size();
  }
  return CountAndPost(std::move(exchange));
}

std::unique_ptr<Work> ExchangeCommunicator::PostPointToPoint(Operation operation, int peer,
                                                             ConstBytes send,
                                                             MutableBytes receive) {
  Exchange exchange{.operation = operation,
                    .peers = std::vector<Exchange::Peer>(static_cast<std::size_t>(size_))};
  std::uint64_t& count = operation == Operation::kSend ? sends_[peer] : receives_[peer];
  exchange.peers[peer] = {.active = true,
                          .header = {.sequence = count++,
                                     .operation = operation,
                                     .group_hash = group_hash_,
                                     .send_bytes = send.size(),
                                     .receive_bytes = receive.size()},
                          .send = send,
                          .receive = receive};
  return CountAndPost(std::move(exchange));
}

std::unique_ptr<Work> ExchangeCommunicator::CountAndPost(Exchange exchange) {
  for (const Exchange::Peer& peer : exchange.peers) {
    if (peer.active) bytes_sent_ += header_bytes() + peer.send.size();
  }
  return Post(std::move(exchange));
}

void ExchangeCommunicator::RequirePeer(Operation operation, int peer) const {
  Require(peer >= 0 && peer < size_ && peer != rank_, operation,
          "peer " + std::to_string(peer) + " of rank " + std::to_string(rank_) +
              " is not another rank of 0.." + std::to_string(size_ - 1));
}

}  // namespace agoq
