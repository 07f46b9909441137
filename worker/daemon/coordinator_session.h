// The session with the coordinator: kept up for the life of the daemon, whatever happens to the
// coordinator.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "proto/agoq/v1/agent_service.grpc.pb.h"
#include "proto/common/clock.h"
#include "proto/common/log.h"
#include "worker/daemon/connection_state.h"
#include "worker/daemon/outbox.h"
#include "worker/daemon/reconnect_pause.h"
#include "worker/daemon/worker_metrics.h"

namespace agoq {

// What a session says and does with what it hears; called on its threads, one call at a time each.
struct SessionCallbacks {
  std::function<v1::Hello()> hello;          // all but the protocol's versions
  std::function<v1::Heartbeat()> heartbeat;  // all but the sequence
  std::function<void(const v1::Welcome&)> on_welcome;
  // A command of the newest epoch. Answers a problem: empty, or why it is refused.
  std::function<std::string(const v1::CoordinatorMessage&)> on_command;
};

// All of it outlives the session.
struct SessionParts {
  Outbox& outbox;
  ConnectionState& connection;
  WorkerMetrics& metrics;
  const Clock& clock;
  const Log& log;
};

class CoordinatorSession {
 public:
  // Runs from here on.
  CoordinatorSession(const std::shared_ptr<grpc::Channel>& channel, SessionCallbacks callbacks,
                     SessionParts parts);
  // Cuts the session.
  ~CoordinatorSession();
  CoordinatorSession(const CoordinatorSession&) = delete;
  CoordinatorSession& operator=(const CoordinatorSession&) = delete;

 private:
  void Run(std::stop_token stop);
  // One session, from Hello to its end; says why it ended.
  grpc::Status RunStream(std::stop_token stop);
  // What is wrong with the answer to Hello; empty: nothing.
  std::string TakeWelcome(const v1::CoordinatorMessage& message);
  void TakeCommand(const v1::CoordinatorMessage& message);
  void NoteLost(const grpc::Status& status);

  const std::unique_ptr<v1::AgentService::Stub> stub_;
  const SessionCallbacks callbacks_;
  const SessionParts parts_;
  // Of the session's thread.
  std::int64_t epoch_ = 0;
  bool was_connected_ = false;
  ReconnectPause pause_;
  std::string logged_reason_;
  std::optional<Clock::Steady> logged_at_;
  std::jthread thread_;
};

}  // namespace agoq
