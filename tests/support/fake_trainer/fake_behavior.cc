#include "tests/support/fake_trainer/fake_behavior.h"

#include <optional>
#include <regex>

namespace agoq {
namespace {

// The number that the first group of `pattern` finds in `text`.
std::optional<std::int64_t> NumberIn(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return std::nullopt;
  return std::stoll(match[1]);
}

bool HasWord(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

void SetFault(const std::string& name, const std::string& pattern, FakeFault fault,
              FakeBehavior* behavior) {
  const std::optional<std::int64_t> step = NumberIn(name, pattern);
  if (!step) return;
  behavior->fault = fault;
  behavior->fault_step = *step;
}

void SetFaults(const std::string& name, FakeBehavior* behavior) {
  SetFault(name, "exit[0-9]+-at-([0-9]+)", FakeFault::kExit, behavior);
  SetFault(name, "kill-at-([0-9]+)", FakeFault::kKill, behavior);
  SetFault(name, "hang-at-([0-9]+)", FakeFault::kHang, behavior);
  SetFault(name, "oom-at-([0-9]+)", FakeFault::kOutOfMemory, behavior);
  behavior->exit_code = static_cast<int>(NumberIn(name, "exit([0-9]+)-at-").value_or(0));
  behavior->ignores_stop = HasWord(name, "ignore-term");
  behavior->is_user_error = HasWord(name, "usererror");
}

}  // namespace

FakeBehavior BehaviorOf(const v1::TrainerTask& task, const std::string& step_ms) {
  const v1::JobSpec& spec = task.spec();
  FakeBehavior behavior;
  behavior.total_steps = spec.steps().total();
  behavior.checkpoints = spec.checkpoint().uri();
  behavior.checkpoint_interval = spec.checkpoint().interval();
  if (!step_ms.empty()) behavior.step_time = std::chrono::milliseconds(std::stoll(step_ms));
  if (spec.timeouts().collective_seconds() > 0) {
    behavior.collective_timeout = std::chrono::milliseconds(
        static_cast<std::int64_t>(spec.timeouts().collective_seconds() * 1000));
  }
  const std::string& name = spec.name();
  const bool is_this_rank =
      NumberIn(name, "on-rank-([0-9]+)").value_or(task.id().rank()) == task.id().rank();
  const bool is_this_generation = !HasWord(name, "once") || task.id().generation() == 1;
  if (is_this_rank && is_this_generation) SetFaults(name, &behavior);
  return behavior;
}

}  // namespace agoq
