// One rank's connections to its group and the operations in flight on them. Internal to
// gloo_communicator: the only header here that shows Gloo.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/exchange_communicator.h"

namespace agoq {

class GlooLink;

// Stands for "no deadline": such a wait is interrupted, never timed out by Gloo.
inline constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

// Memory that Gloo reads or writes; known to the link while it lives, so that a failure ends waits
// on it.
class GlooBuffer {
 public:
  GlooBuffer(GlooLink& link, void* begin, std::size_t bytes);
  ~GlooBuffer();
  GlooBuffer(const GlooBuffer&) = delete;
  GlooBuffer& operator=(const GlooBuffer&) = delete;

  gloo::transport::UnboundBuffer* operator->() const { return buffer_.get(); }

 private:
  GlooLink& link_;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
};

// One posted operation.
struct GlooOperation {
  struct Peer {
    OperationHeader received;
    std::unique_ptr<GlooBuffer> header_send, header_receive, payload_send, payload_receive;
    bool header_seen = false;
  };
  std::string name;  // "all_gather #3"
  Exchange exchange;
  std::vector<Peer> peers;
  std::string post_error;  // of Gloo, when it was posted; reported in turn
  // Guarded by the link's mutex.
  bool agreed = false;   // all headers agree and payload is under way
  bool expired = false;  // its deadline has passed
  bool dropped = false;  // the caller's buffers are gone
};

// How an operation goes: posting announces it to each peer and offers the payload, which Gloo holds
// back until the peer takes it. Once all headers are there and agree, this rank takes its peers'
// payload. A failure closes all connections before any buffer is released: Gloo ends the process
// when bytes arrive for a buffer that is gone.
//
// A peer that ends in good order says goodbye; a connection that closes without one fails the link
// even while nothing is expected from that peer, but a disagreement that is known by then is what
// gets reported.
class GlooLink {
 public:
  GlooLink(int rank, std::shared_ptr<gloo::Context> context);
  ~GlooLink();

  std::shared_ptr<GlooOperation> Post(Exchange exchange);
  void Wait(GlooOperation& operation, CommClock::time_point deadline);
  // The caller's buffers are about to go. Fails the link if they are in use.
  void Release(GlooOperation& operation);
  // Ends all waits and closes the connections; the first reason stays. Any thread.
  void Fail(const std::string& reason);
  // Says goodbye to the peers, then fails.
  void Leave();

 private:
  friend class GlooBuffer;
  using Deadline = std::optional<CommClock::time_point>;

  void Offer(GlooOperation& operation);
  void TakePayload(GlooOperation& operation);
  // Runs on progress_ for collectives; point-to-point operations, whose order may differ by pair,
  // agree in their Wait.
  void Agree(GlooOperation& operation, Deadline deadline);
  // False when the link has failed.
  bool CompareHeaders(GlooOperation& operation, Deadline deadline);
  void AwaitAgreement(GlooOperation& operation, CommClock::time_point deadline);
  void AwaitPayload(GlooOperation& operation, CommClock::time_point deadline);
  // Ends the header waits of the operation that Progress works on; needs mutex_.
  void InterruptProgress();
  // For an operation whose wait for headers has ended early: names the disagreement if there is
  // one, else the lost peer, else the ranks whose header is not there.
  void FailInterrupted(GlooOperation& operation, std::string disagreement);
  void FailLost(const GlooOperation& operation, const std::string& cause);
  // Holds the connections open until the peers have told that they disagree as well: a connection
  // that is closed earlier can take the header with it that the peer has not read. Then closes.
  void ConfirmDisagreement(const GlooOperation& operation);
  [[noreturn]] void ThrowFailure();
  bool failed();
  void CloseOnce();
  void ExpectGoodbyes();
  void Progress(std::stop_token stop);
  void WatchConnections();

  const int rank_;
  const std::shared_ptr<gloo::Context> context_;  // Gloo hands out and keeps shared contexts
  std::once_flag closed_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::string failure_;  // empty while all is well
  std::string lost_;     // a connection that closed without a goodbye
  std::set<gloo::transport::UnboundBuffer*> buffers_;
  std::deque<std::shared_ptr<GlooOperation>> queue_;  // collectives that have not agreed, in order
  std::shared_ptr<GlooOperation> current_;            // the one that Progress works on

  // One byte a peer; never read. Gloo reports the end of any of its connections to whoever waits on
  // it.
  std::vector<std::byte> goodbyes_;
  std::unique_ptr<GlooBuffer> watch_;
  // Last: they use all of the above.
  std::jthread progress_;
  std::jthread watcher_;
};

}  // namespace agoq
