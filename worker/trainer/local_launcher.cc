#include "worker/trainer/local_launcher.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include "worker/trainer/failure.h"

namespace agoq {
namespace {

using Clock = std::chrono::steady_clock;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (std::filesystem::temp_directory_path() / "agoq-rendezvous-XXXXXX").string();
    if (::mkdtemp(path_.data()) != nullptr) return;
    throw std::runtime_error(path_ + ": cannot be made (" + std::strerror(errno) +
                             "); set TMPDIR to a folder that can be written");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
  return signals;
}

// While it lives, this thread takes the watched signals by waiting for them.
class BlockedSignals {
 public:
  BlockedSignals() {
    const sigset_t signals = WatchedSignals();
    ::sigprocmask(SIG_BLOCK, &signals, &previous_);
  }
  ~BlockedSignals() { ::sigprocmask(SIG_SETMASK, &previous_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t previous_;
};

// In a process group of its own, so that Ctrl-C reaches it once, through the launcher.
pid_t Spawn(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  const sigset_t watched = WatchedSignals();
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &watched);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, program.c_str(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  throw std::runtime_error(program + ": cannot be started (" + std::strerror(error) +
                           "); lower --local-processes or free memory");
}

// The processes of the ranks; none outlives it.
class RankProcesses {
 public:
  explicit RankProcesses(std::chrono::milliseconds grace) : grace_(grace) {}
  ~RankProcesses() {
    SendAll(SIGKILL);
    for (pid_t pid : pids_) {
      if (pid != 0) ::waitpid(pid, nullptr, 0);
    }
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  void Add(pid_t pid) { pids_.push_back(pid); }

  int WaitForAll() {
    while (IsAnyAlive()) {
      OnSignal(NextSignal());
      Reap();
      if (Clock::now() >= kill_at_) {
        was_killed_here_ = true;
        SendAll(SIGKILL);
      }
    }
    return ExitCode();
  }

 private:
  bool IsAnyAlive() const {
    return std::any_of(pids_.begin(), pids_.end(), [](pid_t pid) { return pid != 0; });
  }

  // Zero: none came for a while.
  static int NextSignal() {
    const sigset_t signals = WatchedSignals();
    const timespec patience = {0, 100'000'000};
    const int number = ::sigtimedwait(&signals, nullptr, &patience);
    return number > 0 ? number : 0;
  }

  void OnSignal(int number) {
    if (number != SIGINT && number != SIGTERM) return;
    if (stop_signal_ != 0) KillSoon();
    if (stop_signal_ == 0) stop_signal_ = number;
    SendAll(number);
  }

  void Reap() {
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      int status = 0;
      if (pids_[rank] == 0 || ::waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) continue;
      pids_[rank] = 0;
      OnExit(rank, status);
    }
  }

  void OnExit(std::size_t rank, int status) {
    if (WIFSIGNALED(status) && !was_killed_here_) {
      std::cerr << "agoq-trainer: rank " << rank << " was ended by signal " << WTERMSIG(status)
                << " (" << ::strsignal(WTERMSIG(status)) << "); the other ranks end too\n"
                << std::flush;
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed;
    codes_.push_back(code);
    const bool is_stop = code == kExitSignal + SIGINT || code == kExitSignal + SIGTERM;
    if (code != kExitDone && !is_stop) KillSoon();
  }

  void KillSoon() { kill_at_ = std::min(kill_at_, Clock::now() + grace_); }

  void SendAll(int number) const {
    for (pid_t pid : pids_) {
      if (pid != 0) ::kill(pid, number);
    }
  }

  int ExitCode() const {
    const auto any = [&](auto matches) {
      return std::any_of(codes_.begin(), codes_.end(), matches);
    };
    if (any([](int code) { return code == kExitUsage; })) return kExitUsage;
    if (any([](int code) { return code == kExitFailed; })) return kExitFailed;
    // A signal may reach the ranks after the last step: then they are done all the same.
    return codes_.empty() ? kExitDone : *std::max_element(codes_.begin(), codes_.end());
  }

  const std::chrono::milliseconds grace_;
  std::vector<pid_t> pids_;  // zero: gone
  std::vector<int> codes_;
  Clock::time_point kill_at_ = Clock::time_point::max();
  int stop_signal_ = 0;
  bool was_killed_here_ = false;
};

}  // namespace

int LaunchLocalRanks(const LaunchOptions& options) {
  const TemporaryFolder rendezvous;
  const BlockedSignals blocked;
  RankProcesses ranks(options.grace);
  for (int rank = 0; rank < options.num_ranks; ++rank) {
    ranks.Add(Spawn(options.program, options.arguments_of(rank, rendezvous.path())));
  }
  return ranks.WaitForAll();
}

}  // namespace agoq
