// A daemon as a process of its own, its log in a file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace agoq {

class DaemonProcess {
 public:
  // `environment` adds NAME=VALUE entries.
  DaemonProcess(const std::string& program, const std::vector<std::string>& arguments,
                std::filesystem::path log, const std::vector<std::string>& environment = {});
  // Kills it if it still runs.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();
  std::string Log() const;
  // Waits for a JSON line with that message and returns its field; empty: it ended, or 30 s passed.
  std::string WaitForField(const std::string& message, const std::string& field);

  void Signal(int number) const;
  // Exit code, 128 + signal, or -1: it still runs after `patience`.
  int WaitForEnd(std::chrono::seconds patience);

 private:
  const std::filesystem::path log_;
  pid_t pid_ = 0;
  bool has_ended_ = false;
  int status_ = 0;
};

// Polls until `condition` holds; false: `patience` has passed.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds patience);

}  // namespace agoq

#include <thread>

namespace agoq {

template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace agoq
