#include "proto/common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace agoq {
namespace {

struct NamedLevel {
  std::string_view name;
  spdlog::level::level_enum level;
};
constexpr NamedLevel kLevels[] = {{"debug", spdlog::level::debug},
                                  {"info", spdlog::level::info},
                                  {"warning", spdlog::level::warn},
                                  {"error", spdlog::level::err}};

std::string_view NameOf(spdlog::level::level_enum level) {
  for (const NamedLevel& named : kLevels) {
    if (named.level == level) return named.name;
  }
  return "info";
}

std::string TimeText() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
  char text[48];
  std::snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(milliseconds));
  return text;
}

std::string JsonLine(const std::string& component, spdlog::level::level_enum level,
                     std::string_view message, const LogFields& fields) {
  nlohmann::ordered_json line;
  line["time"] = TimeText();
  line["level"] = NameOf(level);
  line["component"] = component;
  line["message"] = message;
  for (const auto& [name, value] : fields) line[std::string(name)] = value;
  // Text that is not UTF-8 must not lose the line.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string TextLine(spdlog::level::level_enum level, std::string_view message,
                     const LogFields& fields) {
  std::string line = TimeText();
  line.append(" ").append(NameOf(level)).append(" ").append(message);
  for (const auto& [name, value] : fields) line.append(" ").append(name).append("=").append(value);
  return line;
}

void Write(spdlog::logger& logger, const std::string& component, bool is_json,
           spdlog::level::level_enum level, std::string_view message, const LogFields& fields) {
  if (!logger.should_log(level)) return;
  logger.log(level, is_json ? JsonLine(component, level, message, fields)
                            : TextLine(level, message, fields));
}

}  // namespace

std::string LogLevelProblem(std::string_view level) {
  for (const NamedLevel& named : kLevels) {
    if (named.name == level) return "";
  }
  return "not a level; use debug, info, warning or error";
}

Log::Log(std::string component, const std::string& level)
    : component_(std::move(component)),
      is_json_(::isatty(STDOUT_FILENO) == 0),
      logger_(std::make_unique<spdlog::logger>(component_,
                                               std::make_shared<spdlog::sinks::stdout_sink_mt>())) {
  logger_->set_pattern("%v");
  logger_->flush_on(spdlog::level::debug);
  SetLevel(level);
}

Log::~Log() = default;

void Log::SetLevel(const std::string& level) {
  for (const NamedLevel& named : kLevels) {
    if (named.name == level) return logger_->set_level(named.level);
  }
  throw std::invalid_argument("log_level: " + level + ": " + LogLevelProblem(level));
}

void Log::Debug(std::string_view message, const LogFields& fields) const {
  Write(*logger_, component_, is_json_, spdlog::level::debug, message, fields);
}
void Log::Info(std::string_view message, const LogFields& fields) const {
  Write(*logger_, component_, is_json_, spdlog::level::info, message, fields);
}
void Log::Warning(std::string_view message, const LogFields& fields) const {
  Write(*logger_, component_, is_json_, spdlog::level::warn, message, fields);
}
void Log::Error(std::string_view message, const LogFields& fields) const {
  Write(*logger_, component_, is_json_, spdlog::level::err, message, fields);
}

}  // namespace agoq
