#include "client/values_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace agoq {
namespace {

constexpr char kGreen[] = "\x1b[32m";
constexpr char kRed[] = "\x1b[31m";
constexpr char kYellow[] = "\x1b[33m";
constexpr char kPlain[] = "\x1b[0m";

template <typename... Values>
std::string Text(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

// A word of an enum without its prefix; a number that this version does not know stays one.
std::string Word(const std::string& name, const std::string& prefix, int number) {
  if (name.size() <= prefix.size()) return std::to_string(number);
  std::string word = name.substr(prefix.size());
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

std::string Colored(const std::string& text, const char* color) { return color + text + kPlain; }

}  // namespace

WallTime TimeOf(const google::protobuf::Timestamp& timestamp) {
  const auto since_epoch =
      std::chrono::seconds(timestamp.seconds()) + std::chrono::nanoseconds(timestamp.nanos());
  return WallTime(std::chrono::duration_cast<WallTime::duration>(since_epoch));
}

std::string StateText(v1::JobState state) {
  return Word(v1::JobState_Name(state), "JOB_STATE_", state);
}

std::string StateText(v1::WorkerState state) {
  return Word(v1::WorkerState_Name(state), "WORKER_STATE_", state);
}

std::string StateText(v1::AttemptState state) {
  return Word(v1::AttemptState_Name(state), "ATTEMPT_STATE_", state);
}

std::string ReasonText(v1::JobReason reason) {
  if (reason == v1::JOB_REASON_UNSPECIFIED) return "";
  return Word(v1::JobReason_Name(reason), "JOB_REASON_", reason);
}

std::string CauseText(v1::AttemptCause cause) {
  if (cause == v1::ATTEMPT_CAUSE_UNSPECIFIED) return "";
  return Word(v1::AttemptCause_Name(cause), "ATTEMPT_CAUSE_", cause);
}

std::string PercentText(double ratio) { return Text("%.2f%%", 100 * ratio); }

std::string RateText(double per_second) {
  if (per_second >= 1e6) return Text("%.2fM", per_second / 1e6);
  if (per_second >= 1e4) return Text("%.1fk", per_second / 1e3);
  return Text("%.0f", per_second);
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 3600) return Text("%lld:%02lld", whole / 60, whole % 60);
  return Text("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string AgeText(WallTime time, WallTime now) {
  const long long seconds =
      std::max<long long>(std::chrono::duration_cast<std::chrono::seconds>(now - time).count(), 0);
  if (seconds < 120) return Text("%llds", seconds);
  if (seconds < 2 * 3600) return Text("%lldm", seconds / 60);
  if (seconds < 2 * 86400) return Text("%lldh", seconds / 3600);
  return Text("%lldd", seconds / 86400);
}

std::string TimeText(const google::protobuf::Timestamp& timestamp) {
  const auto seconds = static_cast<std::time_t>(timestamp.seconds());
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%SZ", &parts));
}

std::string LossText(double loss) { return Text("%.4f", loss); }

std::string ColoredState(v1::JobState state, bool has_color) {
  const std::string text = StateText(state);
  if (!has_color) return text;
  if (state == v1::JOB_STATE_FAILED) return Colored(text, kRed);
  const bool is_good = state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_RUNNING;
  return Colored(text, is_good ? kGreen : kYellow);
}

std::string ColoredState(v1::WorkerState state, bool has_color) {
  const std::string text = StateText(state);
  if (!has_color) return text;
  if (state == v1::WORKER_STATE_LOST || state == v1::WORKER_STATE_QUARANTINED) {
    return Colored(text, kRed);
  }
  const bool is_good = state == v1::WORKER_STATE_READY || state == v1::WORKER_STATE_BUSY;
  return Colored(text, is_good ? kGreen : kYellow);
}

}  // namespace agoq
