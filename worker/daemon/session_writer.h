// What a session sends after its Hello: the outbox and the heartbeats.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <functional>
#include <future>
#include <thread>

#include "proto/agoq/v1/agent_service.pb.h"
#include "worker/daemon/outbox.h"

namespace agoq {

// Writes on its own thread, once the session is welcome. A session that is not, within a while, is
// cancelled: a peer that takes connections but never answers must not hold the worker.
class SessionWriter {
 public:
  using Stream = grpc::ClientReaderWriterInterface<v1::WorkerMessage, v1::CoordinatorMessage>;

  // All of it outlives the writer.
  SessionWriter(grpc::ClientContext& context, Stream& stream, Outbox& outbox,
                std::function<v1::Heartbeat()> heartbeat);
  // To be destroyed only when the stream has ended or is cancelled: a write could block otherwise.
  ~SessionWriter() = default;

  // At most once.
  void BeginBeats(double heartbeat_seconds) { welcome_.set_value(heartbeat_seconds); }

 private:
  void Run(std::stop_token stop);
  bool WriteBeat(std::int64_t sequence);

  grpc::ClientContext& context_;
  Stream& stream_;
  Outbox& outbox_;
  const std::function<v1::Heartbeat()> heartbeat_;
  std::promise<double> welcome_;
  std::future<double> is_welcome_;  // of the thread
  std::jthread thread_;
};

}  // namespace agoq
