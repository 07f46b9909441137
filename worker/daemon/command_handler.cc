#include "worker/daemon/command_handler.h"

#include <utility>

namespace agoq {

std::string CommandHandler::Execute(const v1::CoordinatorMessage& message) {
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kProfile:
      Profile(message.profile());
      return "";
    case v1::CoordinatorMessage::kPrepare:
      return supervisor_.Prepare(message.prepare());
    case v1::CoordinatorMessage::kStart:
      supervisor_.Start(message.start().id());
      return "";
    case v1::CoordinatorMessage::kDrain:
      supervisor_.Drain(message.drain());
      return "";
    case v1::CoordinatorMessage::kAbort:
      supervisor_.Abort(message.abort());
      return "";
    case v1::CoordinatorMessage::kForget:
      supervisor_.Forget(message.forget().id());
      return "";
    case v1::CoordinatorMessage::kLeaseRenewed:
      return "";
    case v1::CoordinatorMessage::kPlanUpdate:
      return "plans of running jobs cannot change in this version; stop the job and start it again";
    default:
      return "this worker does not know the command; update it to the coordinator's release";
  }
}

void CommandHandler::Profile(const v1::Profile& profile) {
  const DeviceReading reading = devices_.Read();
  v1::WorkerMessage message;
  v1::ProfileResult& result = *message.mutable_profile_result();
  *result.mutable_id() = profile.id();
  result.mutable_devices()->Assign(reading.devices.begin(), reading.devices.end());
  result.set_problem(reading.problem);
  // One rank a worker, on its first device.
  if (!reading.devices.empty()) result.set_usable_bytes(reading.devices[0].free_bytes());
  outbox_.Put(std::move(message));
}

}  // namespace agoq
