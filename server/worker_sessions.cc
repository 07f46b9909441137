#include "server/worker_sessions.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/common/protocol_version.h"
#include "proto/common/status.h"
#include "proto/common/version.h"

namespace agoq {
namespace {

absl::Status CheckProtocol(const v1::Hello& hello) {
  if (hello.protocol_min() <= kProtocolMax && hello.protocol_max() >= kProtocolMin) {
    return absl::OkStatus();
  }
  return PreconditionFailed(
      absl::StrCat("worker ", hello.worker(), " speaks protocol ", hello.protocol_min(), " to ",
                   hello.protocol_max(), ", this coordinator ", kProtocolMin, " to ", kProtocolMax,
                   "; upgrade the older of the two (the worker is version ", hello.version(),
                   ", the coordinator ", Version(), ")"),
      {{.type = "PROTOCOL", .subject = hello.worker(), .description = hello.version()}});
}

}  // namespace

absl::Status WorkerSessions::OnHello(const v1::Hello& hello,
                                     std::shared_ptr<AgentSession> session) {
  absl::Status checked = CheckProtocol(hello);
  if (checked.ok()) checked = workers_.Join(hello, std::move(session));
  if (!checked.ok()) return checked;
  v1::CoordinatorMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_protocol(std::min(hello.protocol_max(), kProtocolMax));
  welcome.set_lease_seconds(options_.lease_seconds);
  welcome.set_heartbeat_seconds(options_.heartbeat_seconds);
  welcome.set_orphan_limit_seconds(options_.orphan_limit_seconds);
  for (v1::RankId& id : reconciler_.OnHello(hello)) *welcome.add_adopt() = std::move(id);
  workers_.Send(hello.worker(), std::move(message));
  reconciler_.OnTick();
  return absl::OkStatus();
}

void WorkerSessions::OnMessage(const std::string& worker, const v1::WorkerMessage& message) {
  switch (message.message_case()) {
    case v1::WorkerMessage::kHeartbeat:
      return reconciler_.OnHeartbeat(worker, message.heartbeat());
    case v1::WorkerMessage::kProfileResult:
      return reconciler_.OnProfile(worker, message.profile_result());
    case v1::WorkerMessage::kTaskStatus:
      return reconciler_.OnTaskStatus(worker, message.task_status());
    default:
      return;  // an Ack: commands are judged by their effect
  }
}

void WorkerSessions::OnEnd(const std::string& worker, const AgentSession* session) {
  workers_.Leave(worker, session);
}

}  // namespace agoq
