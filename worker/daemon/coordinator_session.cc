#include "worker/daemon/coordinator_session.h"

#include <absl/strings/str_cat.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "proto/common/protocol_version.h"
#include "worker/daemon/session_writer.h"

namespace agoq {
namespace {

constexpr std::chrono::minutes kLogInterval{1};  // of a reason that stays the same
constexpr double kHeartbeatSeconds = 2;          // if the coordinator does not say

void Sleep(std::stop_token stop, std::chrono::duration<double> time) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, stop, time, [] { return false; });
}

std::string Describe(const grpc::Status& status) {
  if (status.ok()) return "it ended the session";
  if (status.error_code() == grpc::StatusCode::CANCELLED) {
    return "it does not answer; is this the address of a coordinator?";
  }
  return status.error_message();
}

}  // namespace

CoordinatorSession::CoordinatorSession(const std::shared_ptr<grpc::Channel>& channel,
                                       SessionCallbacks callbacks, SessionParts parts)
    : stub_(v1::AgentService::NewStub(channel)),
      callbacks_(std::move(callbacks)),
      parts_(parts),
      thread_([this](std::stop_token stop) { Run(std::move(stop)); }) {}

CoordinatorSession::~CoordinatorSession() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void CoordinatorSession::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const grpc::Status status = RunStream(stop);
    parts_.metrics.SetConnected(false);
    if (stop.stop_requested()) return;
    NoteLost(status);
    Sleep(stop, pause_.Next());
  }
}

grpc::Status CoordinatorSession::RunStream(std::stop_token stop) {
  grpc::ClientContext context;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  const auto stream = stub_->Session(&context);
  // Before Hello is made: a change after it must not be lost.
  parts_.outbox.Open();
  v1::WorkerMessage hello;
  *hello.mutable_hello() = callbacks_.hello();
  hello.mutable_hello()->set_protocol_min(kProtocolMin);
  hello.mutable_hello()->set_protocol_max(kProtocolMax);
  std::string refusal;
  if (stream->Write(hello)) {
    SessionWriter writer(context, *stream, parts_.outbox, callbacks_.heartbeat);
    v1::CoordinatorMessage message;
    if (stream->Read(&message)) refusal = TakeWelcome(message);
    if (!refusal.empty()) context.TryCancel();
    if (message.has_welcome() && refusal.empty()) {
      const double beat = message.welcome().heartbeat_seconds();
      writer.BeginBeats(beat > 0 ? beat : kHeartbeatSeconds);
      while (stream->Read(&message)) TakeCommand(message);
    }
  }
  parts_.outbox.Close();
  const grpc::Status status = stream->Finish();
  return refusal.empty() ? status : grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, refusal);
}

std::string CoordinatorSession::TakeWelcome(const v1::CoordinatorMessage& message) {
  if (!message.has_welcome()) return "its first message is no Welcome; update the coordinator";
  const v1::Welcome& welcome = message.welcome();
  if (welcome.protocol() < kProtocolMin || welcome.protocol() > kProtocolMax) {
    return absl::StrCat("it speaks protocol version ", welcome.protocol(), ", this worker ",
                        kProtocolMin, " to ", kProtocolMax, "; install the same release on both");
  }
  if (message.epoch() < epoch_) {
    return absl::StrCat("its epoch ", message.epoch(), " is older than ", epoch_,
                        ", which this worker has seen: another coordinator has taken over; if its "
                        "database was replaced, restart this worker");
  }
  epoch_ = message.epoch();
  if (was_connected_) parts_.metrics.CountReconnect();
  was_connected_ = true;
  pause_.Reset();
  logged_reason_.clear();
  parts_.metrics.SetConnected(true);
  parts_.connection.SetConnected(welcome.orphan_limit_seconds());
  parts_.log.Info("connected to the coordinator", {{"epoch", std::to_string(epoch_)}});
  callbacks_.on_welcome(welcome);
  return "";
}

void CoordinatorSession::TakeCommand(const v1::CoordinatorMessage& message) {
  if (message.epoch() < epoch_) {
    parts_.log.Debug("ignores a command of an older epoch",
                     {{"epoch", std::to_string(message.epoch())}});
    return;
  }
  epoch_ = message.epoch();
  const std::string problem = callbacks_.on_command(message);
  if (!problem.empty()) parts_.log.Warning(absl::StrCat("refuses a command: ", problem));
  if (message.command_id() == 0) return;
  v1::WorkerMessage reply;
  reply.mutable_ack()->set_command_id(message.command_id());
  reply.mutable_ack()->set_problem(problem);
  parts_.outbox.Put(std::move(reply));
}

void CoordinatorSession::NoteLost(const grpc::Status& status) {
  parts_.connection.SetLost(Describe(status));
  const Clock::Steady now = parts_.clock.Now();
  // Why an address does not answer is told in ever other words.
  const bool is_away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  const std::string reason = is_away ? "away" : status.error_message();
  if (reason == logged_reason_ && logged_at_ && now - *logged_at_ < kLogInterval) return;
  logged_reason_ = reason;
  logged_at_ = now;
  parts_.log.Warning(absl::StrCat(parts_.connection.not_connected_reason(), "; tries again"));
}

}  // namespace agoq
