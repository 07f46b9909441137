#include "worker/daemon/child_process.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "worker/daemon/file_handle.h"

extern char** environ;

namespace agoq {
namespace {

// Of linux/wait.h; glibc 2.36 has it as an enumerator, older ones not at all.
constexpr idtype_t kByPidFile = static_cast<idtype_t>(3);

int OpenPidFile(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

struct StatLine {
  char state = 0;
  pid_t group = 0;
  std::uint64_t start_time = 0;
};

// The name in parentheses may hold anything, so fields are counted from the last parenthesis.
std::optional<StatLine> ReadStat(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  StatLine stat;
  std::string skipped;
  fields >> stat.state >> skipped >> stat.group;               // 3 state, 4 parent, 5 group
  for (int field = 6; field < 22; ++field) fields >> skipped;  // up to 21
  fields >> stat.start_time;
  if (!fields) return std::nullopt;
  return stat;
}

// The actions and attributes of one spawn; freed with it.
class SpawnSetup {
 public:
  SpawnSetup(const std::string& log, const std::string& folder) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    if (!folder.empty()) {
      ::posix_spawn_file_actions_addopen(&actions_, kInheritedFolder, folder.c_str(),
                                         O_RDONLY | O_DIRECTORY, 0);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions_,
                                               kInheritedFolder + (folder.empty() ? 0 : 1));
    ResetSignals();
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  void ResetSignals() {
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

class PosixProcess : public TrainerProcess {
 public:
  PosixProcess(ProcessIdentity identity, FileHandle pid_file, bool is_child)
      : identity_(identity), pid_file_(std::move(pid_file)), is_child_(is_child) {}

  ProcessIdentity identity() const override { return identity_; }
  std::optional<ProcessEnd> WaitForEnd(std::chrono::milliseconds timeout) override;
  void KillGroup() override;

 private:
  ProcessEnd Reap();

  const ProcessIdentity identity_;
  const FileHandle pid_file_;
  const bool is_child_;
  std::optional<ProcessEnd> end_;
};

std::optional<ProcessEnd> PosixProcess::WaitForEnd(std::chrono::milliseconds timeout) {
  if (end_) return end_;
  pollfd poll = {.fd = pid_file_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&poll, 1, static_cast<int>(timeout.count())) <= 0) return std::nullopt;
  // Before it is reaped: until then its id, and so its group's, belongs to nobody else.
  KillGroup();
  end_ = is_child_ ? Reap() : ProcessEnd{};
  return end_;
}

ProcessEnd PosixProcess::Reap() {
  siginfo_t info = {};
  while (::waitid(kByPidFile, static_cast<id_t>(pid_file_.get()), &info, WEXITED) != 0) {
    if (errno != EINTR) return {};
  }
  if (info.si_code == CLD_EXITED) return {.exit_code = info.si_status, .signal = 0};
  return {.exit_code = -1, .signal = info.si_status};
}

void PosixProcess::KillGroup() {
  if (end_) return;
  // An adopted process is reaped by another: its id may be in use again.
  const std::optional<StatLine> stat = ReadStat(identity_.pid);
  if (stat && stat->start_time != identity_.start_time) return;
  ::kill(-identity_.pid, SIGKILL);
}

}  // namespace

std::optional<ProcessIdentity> IdentityOf(pid_t pid) {
  const std::optional<StatLine> stat = ReadStat(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessIdentity{.pid = pid, .start_time = stat->start_time};
}

absl::StatusOr<std::unique_ptr<TrainerProcess>> PosixProcessTable::Spawn(
    const SpawnRequest& request) {
  const std::string program = request.program.string();
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const std::string log = request.log.string();
  const SpawnSetup setup(log, request.folder.string());
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), setup.actions(), setup.attributes(),
                                  arguments.data(), environ);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat(program, " could not be started with its log at ",
                                               log, " (", std::strerror(error),
                                               "); check the setting `trainer` and the disk"));
  }
  // A child that is already dead keeps its entry until it is reaped.
  const std::optional<StatLine> stat = ReadStat(pid);
  FileHandle pid_file(OpenPidFile(pid));
  if (!stat || !pid_file.is_open()) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return absl::UnavailableError(absl::StrCat("process ", pid, " (", program,
                                               ") cannot be watched (", std::strerror(errno),
                                               "); agoq needs Linux 5.4 or newer with /proc"));
  }
  return std::make_unique<PosixProcess>(ProcessIdentity{.pid = pid, .start_time = stat->start_time},
                                        std::move(pid_file), true);
}

absl::StatusOr<std::unique_ptr<TrainerProcess>> PosixProcessTable::Adopt(
    const ProcessIdentity& identity) {
  FileHandle pid_file(identity.pid > 0 ? OpenPidFile(identity.pid) : -1);
  // Asked after the file is open: from here on the id and the file mean the same process.
  const std::optional<ProcessIdentity> found = IdentityOf(identity.pid);
  if (!pid_file.is_open() || !found || *found != identity) {
    return absl::NotFoundError(absl::StrCat("process ", identity.pid, " is not there any more"));
  }
  return std::make_unique<PosixProcess>(identity, std::move(pid_file), false);
}

}  // namespace agoq
