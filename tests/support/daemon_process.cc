#include "tests/support/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace agoq {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

DaemonProcess::DaemonProcess(const std::string& program, const std::vector<std::string>& arguments,
                             std::filesystem::path log, const std::vector<std::string>& environment)
    : log_(std::move(log)) {
  std::vector<std::string> argv = {program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> env = environment;
  for (char** entry = environ; *entry != nullptr; ++entry) env.emplace_back(*entry);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log_.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  const int error = ::posix_spawn(&pid_, program.c_str(), &files, nullptr, Pointers(argv).data(),
                                  Pointers(env).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(program + ": cannot be started");
}

DaemonProcess::~DaemonProcess() {
  if (!IsRunning()) return;
  Signal(SIGKILL);
  ::waitpid(pid_, &status_, 0);
}

bool DaemonProcess::IsRunning() {
  if (has_ended_) return false;
  has_ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !has_ended_;
}

std::string DaemonProcess::Log() const {
  std::ostringstream text;
  text << std::ifstream(log_).rdbuf();
  return text.str();
}

std::string DaemonProcess::WaitForField(const std::string& message, const std::string& field) {
  std::string value;
  Eventually(
      [&] {
        std::ifstream lines(log_);
        for (std::string line; std::getline(lines, line);) {
          const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
          if (json.is_object() && json.value("message", "") == message) {
            value = json.value(field, "");
          }
        }
        return !value.empty() || !IsRunning();
      },
      std::chrono::seconds(30));
  return value;
}

void DaemonProcess::Signal(int number) const {
  if (!has_ended_) ::kill(pid_, number);
}

int DaemonProcess::WaitForEnd(std::chrono::seconds patience) {
  if (!Eventually([this] { return !IsRunning(); }, patience)) return -1;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

}  // namespace agoq
