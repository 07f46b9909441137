// One thing that is wrong with a file that a user wrote.
#pragma once

#include <string>

namespace agoq {

struct SpecError {
  std::string file;
  int line = 0;         // from 1; 0: unknown
  std::string key;      // key path, like optimizer.learning_rate; empty: the file itself
  std::string value;    // as written; empty: none
  std::string problem;  // what is wrong, and the remedy
};

// "job.yaml:12: optimizer.learning_rate: -1: must be above 0"
inline std::string ToText(const SpecError& error) {
  std::string text = error.file;
  if (error.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(error.line);
  constexpr std::size_t kLongestValue = 100;  // a message is read by people
  const bool is_long = error.value.size() > kLongestValue;
  const std::string value = is_long ? error.value.substr(0, kLongestValue) + "..." : error.value;
  for (const std::string& part : {error.key, value}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  }
  return text + (text.empty() ? "" : ": ") + error.problem;
}

}  // namespace agoq
