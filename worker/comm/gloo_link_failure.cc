// How a link fails, and how it learns that a peer has.
#include <pthread.h>

#include <exception>

#include "worker/comm/gloo_link.h"
#include "worker/comm/sigpipe_guard.h"

namespace agoq {
namespace {

// No operation uses these.
constexpr std::uint64_t kGoodbyeSlot = std::uint64_t{1} << 61;
constexpr std::uint64_t kConfirmSlot = kGoodbyeSlot + 1;

// Whether a header has come, on a link that is about to close: Gloo's time-out closes it too.
bool HasArrived(const GlooBuffer& buffer) {
  constexpr std::chrono::milliseconds kAtOnce(1);
  try {
    // The first may report an interruption that came before.
    return buffer->waitRecv(nullptr, kAtOnce) || buffer->waitRecv(nullptr, kAtOnce);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void GlooLink::ExpectGoodbyes() {
  try {
    for (int peer = 0; peer < context_->size; ++peer) {
      if (peer != rank_) (*watch_)->recv(peer, kGoodbyeSlot, static_cast<std::size_t>(peer), 1);
    }
  } catch (const std::exception& error) {
    lost_ = error.what();  // no other thread yet
  }
}

void GlooLink::ConfirmDisagreement(const GlooOperation& operation) {
  constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(1);
  std::byte out{};
  std::vector<std::byte> in(operation.peers.size());
  std::vector<std::unique_ptr<GlooBuffer>> sends;
  std::vector<std::unique_ptr<GlooBuffer>> receives;
  try {
    for (std::size_t p = 0; p < operation.peers.size(); ++p) {
      if (!operation.exchange.peers[p].active) continue;
      receives.push_back(std::make_unique<GlooBuffer>(*this, &in[p], 1));
      (*receives.back())->recv(static_cast<int>(p), kConfirmSlot);
      sends.push_back(std::make_unique<GlooBuffer>(*this, &out, 1));
      (*sends.back())->send(static_cast<int>(p), kConfirmSlot);
    }
    for (const auto& buffer : receives) (*buffer)->waitRecv(nullptr, kPatience);
    for (const auto& buffer : sends) (*buffer)->waitSend(nullptr, kPatience);
  } catch (const std::exception&) {
    // A peer that has closed had seen enough; one that stays silent sees no disagreement.
  }
  CloseOnce();
}

void GlooLink::Leave() {
  if (failed()) return;
  const SigpipeGuard guard;
  // A buffer each: there may be one operation on a buffer at a time.
  constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(1);
  std::byte goodbye{};
  std::vector<std::unique_ptr<GlooBuffer>> buffers;
  try {
    for (int peer = 0; peer < context_->size; ++peer) {
      if (peer == rank_) continue;
      buffers.push_back(std::make_unique<GlooBuffer>(*this, &goodbye, 1));
      (*buffers.back())->send(peer, kGoodbyeSlot);
    }
    for (const auto& buffer : buffers) (*buffer)->waitSend(nullptr, kPatience);
  } catch (const std::exception&) {
    // Who is gone needs no goodbye.
  }
  Fail("the communicator of rank " + std::to_string(rank_) + " is gone");
}

void GlooLink::WatchConnections() {
  pthread_setname_np(pthread_self(), "agoq-watch");
  try {
    while ((*watch_)->waitRecv(nullptr, kForever)) {
      // A goodbye: that peer has ended in good order.
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    lost_ = error.what();
    InterruptProgress();
  }
}

void GlooLink::InterruptProgress() {
  if (!current_) return;
  for (GlooOperation::Peer& peer : current_->peers) {
    if (peer.header_receive) (*peer.header_receive)->abortWaitRecv();
    if (peer.header_send) (*peer.header_send)->abortWaitSend();
  }
}

void GlooLink::FailInterrupted(GlooOperation& operation, std::string disagreement) {
  std::string lost;
  {
    const std::lock_guard lock(mutex_);
    // After a time-out, Gloo closes the connections itself.
    if (!operation.expired) lost = lost_;
  }
  std::string missing;
  for (std::size_t p = 0; p < operation.peers.size() && disagreement.empty(); ++p) {
    GlooOperation::Peer& peer = operation.peers[p];
    if (!peer.header_receive || peer.header_seen) continue;
    const int peer_rank = static_cast<int>(p);
    if (HasArrived(*peer.header_receive)) {
      disagreement =
          DescribeDisagreement(rank_, operation.exchange.peers[p].header, peer_rank, peer.received);
    } else {
      missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(peer_rank);
    }
  }
  if (!disagreement.empty()) return Fail(disagreement);
  // The watch of the connections cannot tell whose was lost: one of those that are still awaited.
  const bool names_peer = lost.starts_with("rank ");
  if (!lost.empty() && !names_peer && !missing.empty()) lost = missing + ": " + lost;
  if (!lost.empty()) return FailLost(operation, lost);
  if (missing.empty()) missing = "any rank before the deadline";
  Fail(operation.name + " timed out on rank " + std::to_string(rank_) + ": not posted by " +
       missing + "; look for the first error of the other ranks");
}

void GlooLink::FailLost(const GlooOperation& operation, const std::string& cause) {
  Fail(operation.name + ": rank " + std::to_string(rank_) + " lost a peer (" + cause +
       "); look for the first error of the other ranks");
}

void GlooLink::Fail(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = reason;
    for (gloo::transport::UnboundBuffer* buffer : buffers_) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
    changed_.notify_all();
  }
  CloseOnce();
}

void GlooLink::ThrowFailure() {
  CloseOnce();
  const std::lock_guard lock(mutex_);
  throw CommunicatorError(failure_);
}

bool GlooLink::failed() {
  const std::lock_guard lock(mutex_);
  return !failure_.empty();
}

void GlooLink::CloseOnce() {
  // Callers that come meanwhile wait for the first: all may release buffers afterwards.
  std::call_once(closed_, [this] {
    try {
      context_->closeConnections();
    } catch (const std::exception&) {
      // A connection that cannot be closed is lost already; the reason of the failure says more.
    }
  });
}

}  // namespace agoq
