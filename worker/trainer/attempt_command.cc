#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "worker/trainer/attempt.h"
#include "worker/trainer/commands.h"

namespace agoq {

void AddAttemptCommand(CLI::App* app, Action* action) {
  auto folder = std::make_shared<std::string>();  // shared with the callback below
  CLI::App* attempt =
      app->add_subcommand("attempt", "Run one rank for a worker daemon, which starts this");
  attempt->add_option("folder", *folder, "Folder of the attempt, which holds task.pb")
      ->required()
      ->check(CLI::ExistingDirectory);
  attempt->callback([folder, action] { *action = [folder] { return RunAttempt(*folder); }; });
}

}  // namespace agoq
