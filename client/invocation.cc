#include "client/invocation.h"

#include <sstream>

#include "client/exit_codes.h"
#include "proto/common/status.h"

namespace agoq {

Coordinator Invocation::Connect(Seconds call_time) const {
  const bool is_given = options.timeout_seconds > 0;
  return Coordinator(options.address, is_given ? Seconds(options.timeout_seconds) : call_time);
}

void Invocation::Tell(const std::string& text) const {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) console.err << "agoq: " << line << "\n";
  console.err << std::flush;
}

void Invocation::Note(const std::string& text) const {
  if (!options.is_quiet) Tell(text);
}

int Invocation::Fail(const absl::Status& status) const {
  Tell(std::string(status.message()));
  for (const std::string& line : DetailLines(status)) console.err << "  " << line << "\n";
  console.err << std::flush;
  return ExitCodeOf(status);
}

}  // namespace agoq
