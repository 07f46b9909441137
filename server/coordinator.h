// The coordinator, put together: store, state thread, services, metrics.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/server.h>
#include <prometheus/registry.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "proto/agoq/v1/config.pb.h"
#include "proto/common/clock.h"
#include "proto/common/http_endpoint.h"
#include "proto/common/log.h"
#include "server/agent_service.h"
#include "server/announcer.h"
#include "server/authorizer.h"
#include "server/job_service.h"
#include "server/metered_store.h"
#include "server/sqlite_store.h"
#include "server/system_service.h"
#include "server/worker_service.h"

namespace agoq {

class Coordinator {
 public:
  // Serves once it returns. `log` outlives it. Errors name thing, value and remedy.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(const v1::CoordinatorConfig& config,
                                                            const Log& log);
  ~Coordinator();

  // Ends streams with UNAVAILABLE, finishes calls, stops. At most some seconds.
  void Stop();

  const std::string& address() const { return address_; }  // with the port that was bound
  const std::string& metrics_url() const { return endpoint_->metrics_url(); }

 private:
  struct Parts;  // what lives on the state thread, and the services

  Coordinator(const v1::CoordinatorConfig& config, const Log& log);
  absl::Status Open();
  absl::Status Serve();
  void Tick();
  void SetHealth(bool serves);
  void CountWorkers(CoordinatorMetrics::Snapshot* snapshot);

  const v1::CoordinatorConfig config_;
  const Log& log_;
  const RealClock clock_;
  const LoopbackAuthorizer authorizer_;
  prometheus::Registry registry_;
  CoordinatorMetrics metrics_;
  std::unique_ptr<SqliteStore> database_;
  StateThread state_;
  std::unique_ptr<Parts> parts_;
  std::atomic<bool> is_ready_{false};
  std::unique_ptr<HttpEndpoint> endpoint_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::set<std::string> unreachable_;  // workers, at the last tick; state thread alone
};

}  // namespace agoq
