#include "worker/comm/gloo_link.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "worker/comm/sigpipe_guard.h"

namespace agoq {
namespace {

std::chrono::milliseconds TimeLeft(std::optional<CommClock::time_point> deadline) {
  if (!deadline) return kForever;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - CommClock::now());
  // Gloo takes 0 and -1 for special values.
  return std::clamp(left, std::chrono::milliseconds(1), kForever);
}

bool IsPointToPoint(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kRecv;
}

// Slots keep messages of one pair apart. Both directions of a pair are apart already.
struct Slots {
  std::uint64_t header_send, header_receive, payload;
};

Slots SlotsOf(const OperationHeader& header) {
  const std::uint64_t base = header.sequence * 4;
  if (!IsPointToPoint(header.operation)) return {base, base, base + 1};
  // The headers of sender and receiver of one message, and those of the message the other way,
  // travel in the same directions.
  constexpr std::uint64_t kPointToPoint = std::uint64_t{1} << 62;
  const std::uint64_t from_sender = kPointToPoint + base;
  const std::uint64_t from_receiver = kPointToPoint + base + 2;
  const bool sends = header.operation == Operation::kSend;
  return {sends ? from_sender : from_receiver, sends ? from_receiver : from_sender,
          kPointToPoint + base + 1};
}

}  // namespace

GlooBuffer::GlooBuffer(GlooLink& link, void* begin, std::size_t bytes)
    : link_(link), buffer_(link.context_->createUnboundBuffer(begin, bytes)) {
  const std::lock_guard lock(link_.mutex_);
  link_.buffers_.insert(buffer_.get());
  // A failure that came before would not reach this one.
  if (link_.failure_.empty()) return;
  buffer_->abortWaitRecv();
  buffer_->abortWaitSend();
}

GlooBuffer::~GlooBuffer() {
  const std::lock_guard lock(link_.mutex_);
  link_.buffers_.erase(buffer_.get());
}

GlooLink::GlooLink(int rank, std::shared_ptr<gloo::Context> context)
    : rank_(rank),
      context_(std::move(context)),
      goodbyes_(static_cast<std::size_t>(context_->size)),
      watch_(std::make_unique<GlooBuffer>(*this, goodbyes_.data(), goodbyes_.size())) {
  const SigpipeGuard guard;  // for the threads too
  ExpectGoodbyes();
  progress_ = std::jthread([this](std::stop_token stop) { Progress(std::move(stop)); });
  watcher_ = std::jthread([this] { WatchConnections(); });
}

// Waits end here, before the threads are joined.
GlooLink::~GlooLink() { Fail("the communicator of rank " + std::to_string(rank_) + " is gone"); }

std::shared_ptr<GlooOperation> GlooLink::Post(Exchange exchange) {
  auto operation = std::make_shared<GlooOperation>();
  operation->exchange = std::move(exchange);
  operation->peers.resize(operation->exchange.peers.size());
  for (const Exchange::Peer& part : operation->exchange.peers) {
    // All headers carry one sequence number; with one rank there is just its own.
    operation->name = std::string(NameOf(operation->exchange.operation)) + " #" +
                      std::to_string(part.header.sequence);
    if (part.active) break;
  }
  if (failed()) return operation;
  const SigpipeGuard guard;
  Offer(*operation);
  if (IsPointToPoint(operation->exchange.operation)) return operation;
  const std::lock_guard lock(mutex_);
  queue_.push_back(operation);
  changed_.notify_all();
  return operation;
}

void GlooLink::Offer(GlooOperation& operation) {
  for (std::size_t p = 0; p < operation.peers.size(); ++p) {
    Exchange::Peer& part = operation.exchange.peers[p];
    GlooOperation::Peer& peer = operation.peers[p];
    if (!part.active) continue;
    const int peer_rank = static_cast<int>(p);
    const Slots slots = SlotsOf(part.header);
    peer.header_receive =
        std::make_unique<GlooBuffer>(*this, &peer.received, sizeof(OperationHeader));
    peer.header_send = std::make_unique<GlooBuffer>(*this, &part.header, sizeof(OperationHeader));
    if (!part.send.empty()) {
      // Gloo takes one pointer for both directions and only reads what it sends.
      peer.payload_send = std::make_unique<GlooBuffer>(
          *this, const_cast<std::byte*>(part.send.data()), part.send.size());
    }
    try {
      (*peer.header_receive)->recv(peer_rank, slots.header_receive);
      (*peer.header_send)->send(peer_rank, slots.header_send);
      if (peer.payload_send) (*peer.payload_send)->send(peer_rank, slots.payload);
    } catch (const std::exception& error) {
      // Reported when its turn comes: an earlier operation may know the real reason.
      operation.post_error = error.what();
    }
  }
}

void GlooLink::Agree(GlooOperation& operation, Deadline deadline) {
  if (!operation.post_error.empty()) return FailLost(operation, operation.post_error);
  try {
    if (CompareHeaders(operation, deadline)) TakePayload(operation);
  } catch (const std::exception& error) {
    FailLost(operation, error.what());
  }
}

bool GlooLink::CompareHeaders(GlooOperation& operation, Deadline deadline) {
  std::string disagreement;
  int waits_for = -1;
  try {
    for (std::size_t p = 0; p < operation.peers.size(); ++p) {
      GlooOperation::Peer& peer = operation.peers[p];
      if (!peer.header_receive) continue;
      waits_for = static_cast<int>(p);
      if (!(*peer.header_receive)->waitRecv(nullptr, TimeLeft(deadline))) {
        FailInterrupted(operation, disagreement);
        return false;
      }
      peer.header_seen = true;
      if (!disagreement.empty()) continue;
      disagreement =
          DescribeDisagreement(rank_, operation.exchange.peers[p].header, waits_for, peer.received);
    }
    // Peers must have this rank's header before a disagreement closes the connections.
    for (std::size_t p = 0; p < operation.peers.size(); ++p) {
      GlooOperation::Peer& peer = operation.peers[p];
      if (!peer.header_send) continue;
      waits_for = static_cast<int>(p);
      if ((*peer.header_send)->waitSend(nullptr, TimeLeft(deadline))) continue;
      FailInterrupted(operation, disagreement);
      return false;
    }
  } catch (const std::exception& error) {
    if (deadline && CommClock::now() >= *deadline) {
      {
        const std::lock_guard lock(mutex_);
        operation.expired = true;
      }
      FailInterrupted(operation, disagreement);
      return false;
    }
    // Another header that is there may tell more than the lost connection.
    {
      const std::lock_guard lock(mutex_);
      if (lost_.empty()) lost_ = "rank " + std::to_string(waits_for) + ": " + error.what();
    }
    FailInterrupted(operation, disagreement);
    return false;
  }
  if (disagreement.empty()) return !failed();
  ConfirmDisagreement(operation);
  Fail(disagreement);
  return false;
}

void GlooLink::TakePayload(GlooOperation& operation) {
  std::vector<std::unique_ptr<GlooBuffer>> buffers(operation.peers.size());
  for (std::size_t p = 0; p < buffers.size(); ++p) {
    const MutableBytes receive = operation.exchange.peers[p].receive;
    if (!operation.exchange.peers[p].active || receive.empty()) continue;
    buffers[p] = std::make_unique<GlooBuffer>(*this, receive.data(), receive.size());
  }
  // Under the lock: the caller must not drop its memory between the check and the request.
  const std::unique_lock lock(mutex_);
  if (operation.dropped || !failure_.empty()) return;
  for (std::size_t p = 0; p < buffers.size(); ++p) {
    if (!buffers[p]) continue;
    operation.peers[p].payload_receive = std::move(buffers[p]);
    (*operation.peers[p].payload_receive)
        ->recv(static_cast<int>(p), SlotsOf(operation.exchange.peers[p].header).payload);
  }
  operation.agreed = true;
  changed_.notify_all();
}

void GlooLink::Wait(GlooOperation& operation, CommClock::time_point deadline) {
  if (failed()) ThrowFailure();
  const SigpipeGuard guard;
  if (IsPointToPoint(operation.exchange.operation)) {
    Agree(operation, deadline);
  } else {
    AwaitAgreement(operation, deadline);
  }
  if (failed()) ThrowFailure();
  AwaitPayload(operation, deadline);
}

void GlooLink::AwaitAgreement(GlooOperation& operation, CommClock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto decided = [&] { return operation.agreed || !failure_.empty(); };
  if (changed_.wait_until(lock, deadline, decided)) return;
  operation.expired = true;
  // Progress says what is missing. It may be held up by an earlier operation that nobody waits for.
  if (current_) current_->expired = true;
  InterruptProgress();
  changed_.wait(lock, decided);
}

void GlooLink::AwaitPayload(GlooOperation& operation, CommClock::time_point deadline) {
  for (std::size_t p = 0; p < operation.peers.size(); ++p) {
    GlooOperation::Peer& peer = operation.peers[p];
    try {
      const bool done =
          (!peer.payload_receive ||
           (*peer.payload_receive)->waitRecv(nullptr, TimeLeft(deadline))) &&
          (!peer.payload_send || (*peer.payload_send)->waitSend(nullptr, TimeLeft(deadline)));
      if (!done) ThrowFailure();
    } catch (const CommunicatorError&) {
      throw;
    } catch (const std::exception& error) {
      const bool late = CommClock::now() >= deadline;
      FailLost(operation, "rank " + std::to_string(p) + ": " +
                              (late ? "time-out during its payload" : error.what()));
      ThrowFailure();
    }
  }
  const std::lock_guard lock(mutex_);
  operation.dropped = true;  // complete: nothing is in use any more
}

void GlooLink::Release(GlooOperation& operation) {
  std::vector<std::unique_ptr<GlooBuffer>> payload;
  bool in_use = false;
  {
    const std::lock_guard lock(mutex_);
    in_use = !operation.dropped;
    operation.dropped = true;
  }
  if (in_use) {
    Fail(operation.name + " was dropped by rank " + std::to_string(rank_) +
         " before it completed; look for the first error of that rank");
  }
  const std::lock_guard lock(mutex_);
  for (GlooOperation::Peer& peer : operation.peers) {
    payload.push_back(std::move(peer.payload_send));
    payload.push_back(std::move(peer.payload_receive));
  }
}

void GlooLink::Progress(std::stop_token stop) {
  pthread_setname_np(pthread_self(), "agoq-comm");
  while (true) {
    std::shared_ptr<GlooOperation> operation;
    std::shared_ptr<GlooOperation> finished;  // its buffers take the lock when they go
    bool interrupted = false;
    {
      std::unique_lock lock(mutex_);
      finished = std::move(current_);
      if (!changed_.wait(lock, stop, [&] { return !queue_.empty(); })) return;
      operation = std::move(queue_.front());
      queue_.pop_front();
      current_ = operation;
      if (!failure_.empty()) continue;
      interrupted = operation->expired || !lost_.empty();
    }
    if (interrupted) {
      FailInterrupted(*operation, "");
    } else {
      Agree(*operation, std::nullopt);
    }
    if (failed()) CloseOnce();
  }
}

}  // namespace agoq
