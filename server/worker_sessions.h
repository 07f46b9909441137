// The sessions of all workers on the state thread: who joins, and where its messages go.
#pragma once

#include <memory>
#include <string>

#include "server/agent_session.h"
#include "server/reconciler.h"
#include "server/worker_registry.h"

namespace agoq {

struct SessionOptions {
  double lease_seconds = 10;
  double heartbeat_seconds = 2;
  double orphan_limit_seconds = 1800;
};

class WorkerSessions : public SessionHandler {
 public:
  // All outlive it.
  WorkerSessions(WorkerRegistry& workers, Reconciler& reconciler, const SessionOptions& options)
      : workers_(workers), reconciler_(reconciler), options_(options) {}

  absl::Status OnHello(const v1::Hello& hello, std::shared_ptr<AgentSession> session) override;
  void OnMessage(const std::string& worker, const v1::WorkerMessage& message) override;
  void OnEnd(const std::string& worker, const AgentSession* session) override;

 private:
  WorkerRegistry& workers_;
  Reconciler& reconciler_;
  const SessionOptions options_;
};

}  // namespace agoq
