#include "server/coordinator.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "proto/common/channel.h"
#include "proto/common/uuid.h"
#include "server/job_state.h"

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::seconds kShutdownPatience{3};

}  // namespace

struct Coordinator::Parts {
  Parts(const v1::CoordinatorConfig& config, const Clock& clock, Store& database,
        std::int64_t epoch_number, CoordinatorMetrics& metrics, const Authorizer& authorizer,
        StateThread& state, const Log& log, const std::string& metrics_url)
      : epoch(epoch_number),
        store(database, metrics),
        announcer(metrics, watchers, log),
        logs(std::filesystem::path(config.state_directory()) / "logs"),
        jobs(store, clock, epoch, announcer),
        workers(clock, epoch, {config.lease_seconds(), config.lease_grace_seconds()}),
        reconciler(Cluster{jobs, workers, planner, rendezvous, clock,
                           ReconcilerOptions{config.prepare_seconds(), config.backoff_seconds(),
                                             config.silence_limit_seconds()}}),
        manager(jobs, workers, planner, reconciler, NewUuid, {.workers_may_return = epoch > 1}),
        sessions(
            workers, reconciler,
            {config.lease_seconds(), config.heartbeat_seconds(), config.orphan_limit_seconds()}),
        calls(state, authorizer, metrics),
        job_service({calls, manager, jobs, reconciler, store, watchers, logs, log_followers}),
        agent_service({calls, sessions, rendezvous, logs}),
        worker_service(calls, workers),
        system_service(calls, epoch, metrics_url) {}

  const std::int64_t epoch;
  MeteredStore store;
  WatchHub watchers;
  Announcer announcer;
  LogStore logs;
  LogFollowers log_followers;
  JobTable jobs;
  WorkerRegistry workers;
  GangPlanner planner;
  Rendezvous rendezvous;
  Reconciler reconciler;
  JobManager manager;
  WorkerSessions sessions;
  Calls calls;
  JobServiceImpl job_service;
  AgentServiceImpl agent_service;
  WorkerServiceImpl worker_service;
  SystemServiceImpl system_service;
};

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(const v1::CoordinatorConfig& config,
                                                                const Log& log) {
  if (!IsLoopback(config.listen_address())) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen_address ", config.listen_address(),
                     ": is not a loopback address, and this version has no TLS; use 127.0.0.1"));
  }
  std::unique_ptr<Coordinator> coordinator(new Coordinator(config, log));
  absl::Status done = coordinator->Open();
  if (done.ok()) done = coordinator->Serve();
  if (!done.ok()) return done;
  return coordinator;
}

Coordinator::Coordinator(const v1::CoordinatorConfig& config, const Log& log)
    : config_(config), log_(log), metrics_(registry_) {}

Coordinator::~Coordinator() { Stop(); }

absl::Status Coordinator::Open() {
  absl::StatusOr<std::unique_ptr<SqliteStore>> database =
      SqliteStore::Open(config_.state_directory());
  if (!database.ok()) return database.status();
  database_ = *std::move(database);
  const absl::StatusOr<std::int64_t> epoch = database_->BeginEpoch();
  if (!epoch.ok()) return epoch.status();
  absl::StatusOr<std::unique_ptr<HttpEndpoint>> endpoint = HttpEndpoint::Start(
      {.address = config_.metrics_address(),
       .not_ready_reason = [this] { return is_ready_ ? "" : "starting or shutting down"; }},
      registry_);
  if (!endpoint.ok()) return endpoint.status();
  endpoint_ = *std::move(endpoint);
  parts_ = std::make_unique<Parts>(config_, clock_, *database_, *epoch, metrics_, authorizer_,
                                   state_, log_, endpoint_->metrics_url());
  const absl::Status loaded = parts_->jobs.Load();
  if (!loaded.ok()) return loaded;
  parts_->reconciler.Begin();
  state_.Start(kTick, [this] { Tick(); });
  return absl::OkStatus();
}

absl::Status Coordinator::Serve() {
  grpc::EnableDefaultHealthCheckService(true);
  if (config_.reflection()) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetServerLimits(&builder);
  // Two coordinators on one port would share its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  int port = 0;
  builder.AddListeningPort(config_.listen_address(), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&parts_->job_service);
  builder.RegisterService(&parts_->agent_service);
  builder.RegisterService(&parts_->worker_service);
  builder.RegisterService(&parts_->system_service);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    return absl::UnavailableError(
        absl::StrCat("listen_address ", config_.listen_address(),
                     ": cannot listen there; is the port in use? Stop what uses it, or give "
                     "another --listen-address"));
  }
  const std::string& given = config_.listen_address();
  address_ = absl::StrCat(given.substr(0, given.rfind(':')), ":", port);
  SetHealth(true);
  is_ready_ = true;
  return absl::OkStatus();
}

void Coordinator::SetHealth(bool serves) {
  grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService();
  health->SetServingStatus(serves);
  for (const char* service :
       {v1::JobService::service_full_name(), v1::AgentService::service_full_name(),
        v1::WorkerService::service_full_name(), v1::SystemService::service_full_name()}) {
    health->SetServingStatus(service, serves);
  }
}

void Coordinator::Tick() {
  const auto start = std::chrono::steady_clock::now();
  parts_->reconciler.OnTick();
  metrics_.OnScheduled(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  parts_->log_followers.Pump([this](const std::string& id, std::int64_t generation) {
    const v1::Job& job = *parts_->jobs.Find(id);
    return job.status().generation() != generation || !IsActive(job.status().state());
  });
  for (const std::string& id : parts_->jobs.Active()) {
    if (!parts_->watchers.HasWatcher(id)) continue;
    v1::WatchJobResponse update;
    *update.mutable_job() = WithoutSpecAndPlan(parts_->reconciler.Present(*parts_->jobs.Find(id)));
    parts_->watchers.Publish(update);
  }
  CoordinatorMetrics::Snapshot snapshot = {.jobs = parts_->jobs.Count(),
                                           .epoch = parts_->epoch,
                                           .last_event = parts_->jobs.last_event(),
                                           .database_bytes = database_->SizeBytes()};
  CountWorkers(&snapshot);
  metrics_.Set(snapshot);
}

void Coordinator::CountWorkers(CoordinatorMetrics::Snapshot* snapshot) {
  std::set<std::string> unreachable;
  for (const auto& [name, worker] : parts_->workers.entries()) {
    const v1::WorkerState state = parts_->workers.StateOf(worker);
    ++snapshot->workers[state];
    if (worker.link != nullptr) ++snapshot->sessions;
    if (state != v1::WORKER_STATE_UNREACHABLE) continue;
    if (unreachable_.count(name) == 0) metrics_.OnLeaseExpired();
    unreachable.insert(name);
  }
  unreachable_ = std::move(unreachable);
}

void Coordinator::Stop() {
  if (!is_ready_.exchange(false)) {
    state_.Stop();
    return;
  }
  SetHealth(false);
  state_.Post([this] {
    parts_->watchers.Shutdown();
    parts_->log_followers.Shutdown();
    parts_->workers.CloseAll(ShuttingDown());
  });
  server_->Shutdown(std::chrono::system_clock::now() + kShutdownPatience);
  server_->Wait();
  state_.Stop();
}

}  // namespace agoq
