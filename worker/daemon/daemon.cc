#include "worker/daemon/daemon.h"

#include <absl/strings/str_cat.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "proto/common/channel.h"
#include "proto/common/uuid.h"
#include "proto/common/version.h"

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kTickInterval{500};
constexpr std::chrono::seconds kTellPatience{2};  // for the coordinator to take the last ends
constexpr char kStoppingReason[] = "this worker is being stopped";

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const v1::WorkerConfig& config,
                                                      const Log& log) {
  absl::StatusOr<StateLock> lock = StateLock::Take(config.state_directory());
  if (!lock.ok()) return lock.status();
  absl::StatusOr<std::unique_ptr<Inventory>> inventory =
      NewInventory({.device = config.device(), .memory_bytes = config.memory_bytes()});
  if (!inventory.ok()) return inventory.status();
  std::unique_ptr<Daemon> daemon(new Daemon(config, log, *std::move(lock), *std::move(inventory)));
  const absl::Status opened = daemon->Open();
  if (!opened.ok()) return opened;
  return daemon;
}

Daemon::Daemon(const v1::WorkerConfig& config, const Log& log, StateLock lock,
               std::unique_ptr<Inventory> inventory)
    : config_(config),
      incarnation_(NewUuid()),
      log_(log),
      lock_(std::move(lock)),
      metrics_({.worker = config.name(),
                .version = Version(),
                .revision = Revision(),
                .series_life = std::chrono::duration<double>(config.series_seconds())},
               registry_),
      connection_(clock_, config.coordinator()),
      inventory_(std::move(inventory)),
      channel_(NewChannel(config.coordinator())),
      keys_(channel_),
      supervisor_(SupervisorOptionsOf(), Services()),
      devices_(*inventory_, supervisor_, metrics_),
      commands_(supervisor_, devices_, outbox_) {}

Daemon::~Daemon() = default;

SupervisorOptions Daemon::SupervisorOptionsOf() const {
  return {.attempts = std::filesystem::path(config_.state_directory()) / "attempts",
          .host = config_.advertise_host(),
          .device_kind = inventory_->kind(),
          .trainer_grace_seconds = config_.trainer_grace_seconds(),
          .drain_seconds = config_.drain_seconds()};
}

RankServices Daemon::Services() {
  return {.processes = processes_,
          .keys = keys_,
          .metrics = metrics_,
          .clock = clock_,
          .log = log_,
          .trainer = config_.trainer(),
          .kill_wait = std::chrono::duration<double>(config_.kill_seconds()),
          .on_status = [this](const v1::TaskStatus& status) {
            v1::WorkerMessage message;
            *message.mutable_task_status() = status;
            outbox_.Put(std::move(message));
          }};
}

absl::Status Daemon::Open() {
  auto endpoint = HttpEndpoint::Start(
      {.address = config_.metrics_address(),
       .not_ready_reason = [this] { return connection_.not_connected_reason(); }},
      registry_);
  if (!endpoint.ok()) return endpoint.status();
  endpoint_ = *std::move(endpoint);
  log_.Info("worker started", {{"worker", config_.name()},
                               {"coordinator", config_.coordinator()},
                               {"metrics", endpoint_->metrics_url()},
                               {"version", Version()}});
  supervisor_.AdoptFolders();
  const DeviceReading reading = devices_.Read();
  if (!reading.problem.empty()) log_.Warning(reading.problem);
  session_ = std::make_unique<CoordinatorSession>(
      channel_, Callbacks(), SessionParts{outbox_, connection_, metrics_, clock_, log_});
  logs_ = std::make_unique<LogPusher>(channel_, SupervisorOptionsOf().attempts,
                                      [this] { return HeldRanks(); });
  ticks_ = std::jthread([this](std::stop_token stop) { RunTicks(std::move(stop)); });
  return absl::OkStatus();
}

SessionCallbacks Daemon::Callbacks() {
  return {.hello = [this] { return Hello(); },
          .heartbeat = [this] { return Heartbeat(); },
          .on_welcome =
              [this](const v1::Welcome& welcome) {
                supervisor_.KeepOnly({welcome.adopt().begin(), welcome.adopt().end()});
              },
          .on_command =
              [this](const v1::CoordinatorMessage& message) { return commands_.Execute(message); }};
}

std::vector<v1::RankId> Daemon::HeldRanks() const {
  std::vector<v1::RankId> ids;
  for (const v1::TaskStatus& status : supervisor_.Statuses()) ids.push_back(status.id());
  return ids;
}

v1::Hello Daemon::Hello() {
  const DeviceReading reading = devices_.Read();
  const std::vector<v1::TaskStatus> tasks = supervisor_.Statuses();
  v1::Hello hello;
  hello.set_worker(config_.name());
  hello.set_incarnation(incarnation_);
  hello.set_metrics_url(endpoint_->metrics_url());
  hello.set_version(Version());
  hello.mutable_devices()->Assign(reading.devices.begin(), reading.devices.end());
  hello.mutable_tasks()->Assign(tasks.begin(), tasks.end());
  return hello;
}

v1::Heartbeat Daemon::Heartbeat() {
  const DeviceReading reading = devices_.Read();
  const std::vector<v1::RankProgress> ranks = supervisor_.Progress();
  const std::string stuck = supervisor_.problem();
  v1::Heartbeat beat;
  beat.mutable_devices()->Assign(reading.devices.begin(), reading.devices.end());
  beat.mutable_ranks()->Assign(ranks.begin(), ranks.end());
  const bool is_both = !reading.problem.empty() && !stuck.empty();
  beat.set_problem(absl::StrCat(reading.problem, is_both ? "; " : "", stuck));
  return beat;
}

void Daemon::RunTicks(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  bool is_orphan = false;
  while (!stop.stop_requested()) {
    metrics_.SetOrphanSeconds(connection_.orphan_seconds());
    metrics_.Expire(clock_.Now());
    supervisor_.Tick();
    const bool was_orphan = std::exchange(is_orphan, connection_.is_orphan());
    if (is_orphan && !was_orphan) {
      log_.Warning(absl::StrCat(connection_.not_connected_reason(),
                                "; the orphan limit is over, training stops with a checkpoint"));
      supervisor_.DrainOrphans("the coordinator was away for longer than the orphan limit");
    }
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kTickInterval, [] { return false; });
  }
}

void Daemon::Drain() {
  log_.Info("stops, with a checkpoint of what trains",
            {{"seconds", absl::StrCat(config_.drain_seconds())}});
  supervisor_.DrainAll(config_.drain_seconds(), kStoppingReason);
  // After the drain a rank is killed, and then given up on.
  const std::chrono::duration<double> patience(config_.drain_seconds() +
                                               2 * config_.kill_seconds());
  if (!supervisor_.AwaitEnds(patience)) {
    log_.Error(absl::StrCat("leaves a trainer behind: ", supervisor_.problem()));
  }
  if (connection_.is_connected()) supervisor_.AwaitForgotten(kTellPatience);
}

}  // namespace agoq
