// Processes by posix_spawn and pidfd: nothing of this forks a process in which gRPC's threads run.
#pragma once

#include "worker/daemon/trainer_process.h"

namespace agoq {

class PosixProcessTable : public ProcessTable {
 public:
  absl::StatusOr<std::unique_ptr<TrainerProcess>> Spawn(const SpawnRequest& request) override;
  absl::StatusOr<std::unique_ptr<TrainerProcess>> Adopt(const ProcessIdentity& identity) override;
};

// Nothing: no such process, or it is a zombie.
std::optional<ProcessIdentity> IdentityOf(pid_t pid);

}  // namespace agoq
