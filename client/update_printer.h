// What a watched job does, as it happens: events on standard output, progress on standard error.
#pragma once

#include "client/invocation.h"
#include "client/progress_line.h"

namespace agoq {

class UpdatePrinter {
 public:
  // `invocation` outlives it. `prints_json`: every update as one JSON line, and nothing else.
  UpdatePrinter(const Invocation& invocation, bool prints_json);

  void Show(const v1::WatchJobResponse& update);
  void Note(const std::string& text);
  // Ends the live line.
  void EndLine() { progress_.EndLine(); }

 private:
  void ShowState(const v1::Job& job);

  const Invocation& invocation_;
  const bool prints_json_;
  ProgressPrinter progress_;
  std::string name_;        // of the job
  std::string last_state_;  // line printed
};

}  // namespace agoq
