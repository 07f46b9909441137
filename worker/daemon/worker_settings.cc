#include "worker/daemon/worker_settings.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <vector>

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 63;

std::string HostName() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

fs::path FolderOfThisProgram() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool IsName(const std::string& name) {
  const auto is_fit = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), is_fit);
}

// host:port or [address]:port.
bool IsHostAndPort(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string host = address.substr(0, colon);
  const bool is_bracketed = host.front() == '[' && host.back() == ']';
  if (host.find(':') != std::string::npos && !is_bracketed) return false;
  int port = 0;
  return absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 1 && port <= 65535;
}

bool IsLogLevel(const std::string& level) {
  return level == "debug" || level == "info" || level == "warning" || level == "error";
}

std::string ProblemWithTrainer(const std::string& trainer) {
  std::error_code ignored;
  if (fs::is_regular_file(trainer, ignored) && ::access(trainer.c_str(), X_OK) == 0) return "";
  return absl::StrCat("trainer: ", trainer,
                      " is no program that can be run; build agoq-trainer, or set trainer to its "
                      "path");
}

std::vector<std::string> ProblemsWith(const v1::WorkerConfig& config) {
  std::vector<std::string> problems;
  if (!IsHostAndPort(config.coordinator())) {
    problems.push_back(absl::StrCat("coordinator: '", config.coordinator(),
                                    "' is not host:port; give it like 127.0.0.1:9400"));
  }
  if (!IsName(config.name())) {
    problems.push_back(absl::StrCat("name: '", config.name(),
                                    "' is no worker's name; use letters, digits, '-', '_' and "
                                    "'.', at most ",
                                    kLongestName));
  }
  if (config.device() != "auto" && config.device() != "cpu" && config.device() != "cuda") {
    problems.push_back(
        absl::StrCat("device: '", config.device(), "' is no device; it is one of auto, cuda, cpu"));
  }
  if (config.advertise_host().empty()) {
    problems.push_back("advertise_host: empty; give the name or address of this machine");
  }
  if (!IsLogLevel(config.log_level())) {
    problems.push_back(absl::StrCat("log_level: '", config.log_level(),
                                    "' is no level; it is one of debug, info, warning, error"));
  }
  if (std::string problem = ProblemWithTrainer(config.trainer()); !problem.empty()) {
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace

absl::StatusOr<v1::WorkerConfig> CompleteSettings(v1::WorkerConfig config) {
  if (config.name().empty()) config.set_name(HostName());
  if (config.trainer().empty()) {
    config.set_trainer((FolderOfThisProgram() / "agoq-trainer").string());
  }
  if (config.state_directory().empty()) {
    return absl::InvalidArgumentError("state_directory: not set; give this worker a folder");
  }
  std::error_code ignored;
  config.set_state_directory(fs::absolute(config.state_directory(), ignored).string());
  const std::vector<std::string> problems = ProblemsWith(config);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return config;
}

}  // namespace agoq
