// The log of a daemon: a JSON object a line on standard output (time, level, component, message and
// the fields given), or plain text on a terminal.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
}

namespace agoq {

// Values by name: job, generation, rank, worker, ...
using LogFields = std::vector<std::pair<std::string_view, std::string>>;

// Why `level` is none, with the remedy; empty: it is debug, info, warning or error.
std::string LogLevelProblem(std::string_view level);

// Thread-safe.
class Log {
 public:
  // Throws std::invalid_argument where LogLevelProblem has words.
  Log(std::string component, const std::string& level);
  ~Log();

  void Debug(std::string_view message, const LogFields& fields = {}) const;
  void Info(std::string_view message, const LogFields& fields = {}) const;
  void Warning(std::string_view message, const LogFields& fields = {}) const;
  void Error(std::string_view message, const LogFields& fields = {}) const;
  void SetLevel(const std::string& level);

 private:
  const std::string component_;
  const bool is_json_;
  const std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace agoq
