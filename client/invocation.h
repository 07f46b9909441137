// One run of agoq: its options, and what its verb does with them.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>

#include "client/console.h"
#include "client/coordinator.h"
#include "client/options.h"

namespace agoq {

inline constexpr Seconds kCallTime{10};
// Submit and plan: the coordinator asks its workers.
inline constexpr Seconds kPlanTime{30};

class Invocation {
 public:
  explicit Invocation(const Console& console) : console(console) {}

  // To the coordinator that the options name; --timeout wins over `call_time`.
  Coordinator Connect(Seconds call_time = kCallTime) const;

  bool uses_color() const { return UsesColor(options, console); }
  // Each line on standard error, with the program's name before it.
  void Tell(const std::string& text) const;
  // The same, unless --quiet.
  void Note(const std::string& text) const;
  // Tells the error and its details; returns the exit code.
  int Fail(const absl::Status& status) const;

  const Console console;
  GlobalOptions options;
  // What the verb does; returns the exit code. Set by parsing.
  std::function<int()> action;
};

}  // namespace agoq
