// The coordinator's commands, carried out.
#pragma once

#include <string>

#include "proto/agoq/v1/agent_service.pb.h"
#include "worker/daemon/device_monitor.h"
#include "worker/daemon/outbox.h"
#include "worker/daemon/supervisor.h"

namespace agoq {

// Of one thread. Its parts outlive it.
class CommandHandler {
 public:
  CommandHandler(Supervisor& supervisor, DeviceMonitor& devices, Outbox& outbox)
      : supervisor_(supervisor), devices_(devices), outbox_(outbox) {}

  // Answers a problem: empty, or why the command is refused.
  std::string Execute(const v1::CoordinatorMessage& message);

 private:
  void Profile(const v1::Profile& profile);

  Supervisor& supervisor_;
  DeviceMonitor& devices_;
  Outbox& outbox_;
};

}  // namespace agoq
