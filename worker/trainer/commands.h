// The subcommands of agoq-trainer.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace agoq {

// What is left to do once the command line is read; returns the exit code.
using Action = std::function<int()>;

// Each adds its subcommand, which sets `action` (outlives the parse) when it is given.
void AddRunCommand(CLI::App* app, Action* action);
void AddTokenizeCommand(CLI::App* app, Action* action);
void AddEvalCommand(CLI::App* app, Action* action);
void AddGenerateCommand(CLI::App* app, Action* action);
void AddAttemptCommand(CLI::App* app, Action* action);

}  // namespace agoq
