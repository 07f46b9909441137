// One rank of one attempt, under a worker daemon.
#pragma once

#include <string>

namespace agoq {

// Does what FOLDER/task.pb says, once the daemon that connects to FOLDER/trainer.sock gives the
// word, and leaves FOLDER/end.pb. Progress goes to FOLDER/rank<k>.progress, to the daemon, and to
// standard error. SIGTERM, the daemon, and the absence of one for the grace time ask all ranks for
// a stop with a checkpoint. Returns the exit code of failure.h: 143 when it was stopped. Throws
// what makes it impossible to tell the daemon anything: no task, no socket.
int RunAttempt(const std::string& folder);

}  // namespace agoq
