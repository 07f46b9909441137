// The worker daemon: puts its parts together.
#pragma once

#include <absl/status/statusor.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>
#include <thread>

#include "proto/agoq/v1/config.pb.h"
#include "proto/common/clock.h"
#include "proto/common/http_endpoint.h"
#include "proto/common/log.h"
#include "worker/daemon/child_process.h"
#include "worker/daemon/command_handler.h"
#include "worker/daemon/coordinator_session.h"
#include "worker/daemon/device_monitor.h"
#include "worker/daemon/inventory.h"
#include "worker/daemon/key_relay.h"
#include "worker/daemon/log_pusher.h"
#include "worker/daemon/state_lock.h"
#include "worker/daemon/supervisor.h"

namespace agoq {

class Daemon {
 public:
  // `config` has passed CompleteSettings; the log outlives the daemon. INVALID_ARGUMENT: settings;
  // anything else: what this machine does not allow. A coordinator that is absent is no error.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const v1::WorkerConfig& config,
                                                       const Log& log);
  // Leaves running trainers to the next daemon.
  ~Daemon();

  // Stops every trainer with a checkpoint, within drain_seconds, and tells the coordinator.
  void Drain();

  const std::string& metrics_url() const { return endpoint_->metrics_url(); }

 private:
  Daemon(const v1::WorkerConfig& config, const Log& log, StateLock lock,
         std::unique_ptr<Inventory> inventory);

  absl::Status Open();
  SupervisorOptions SupervisorOptionsOf() const;
  RankServices Services();
  SessionCallbacks Callbacks();
  std::vector<v1::RankId> HeldRanks() const;
  v1::Hello Hello();
  v1::Heartbeat Heartbeat();
  void RunTicks(std::stop_token stop);

  const v1::WorkerConfig config_;
  const std::string incarnation_;
  const Log& log_;
  const RealClock clock_;
  const StateLock lock_;
  prometheus::Registry registry_;
  WorkerMetrics metrics_;
  ConnectionState connection_;
  Outbox outbox_;
  const std::unique_ptr<Inventory> inventory_;
  PosixProcessTable processes_;
  const std::shared_ptr<grpc::Channel> channel_;
  KeyRelay keys_;
  Supervisor supervisor_;
  DeviceMonitor devices_;
  CommandHandler commands_;
  std::unique_ptr<HttpEndpoint> endpoint_;
  std::unique_ptr<LogPusher> logs_;
  std::unique_ptr<CoordinatorSession> session_;
  std::jthread ticks_;
};

}  // namespace agoq
