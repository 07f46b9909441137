#include "worker/trainer/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "worker/trainer/commands.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

// Every line is told with the program's name before it.
void Tell(const std::string& problems) {
  std::istringstream lines(problems);
  for (std::string line; std::getline(lines, line);) std::cerr << "agoq-trainer: " << line << "\n";
  std::cerr << std::flush;
}

// Outside of a run, what fails are options and files.
int Act(const Action& action) {
  try {
    return action();
  } catch (const std::invalid_argument& error) {
    Tell(error.what());
    return kExitUsage;
  } catch (const std::runtime_error& error) {
    Tell(error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    Tell(error.what());
    return kExitFailed;
  }
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CLI::App app("Trains LLaMA-class models with few bits for what backward needs", "agoq-trainer");
  app.set_version_flag("--version", "agoq-trainer " AGOQ_VERSION);
  app.require_subcommand(1);
  Action action;
  AddRunCommand(&app, &action);
  AddTokenizeCommand(&app, &action);
  AddEvalCommand(&app, &action);
  AddGenerateCommand(&app, &action);
  AddAttemptCommand(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    Tell(std::string(error.what()) + "\nsee agoq-trainer --help");
    return kExitUsage;
  }
  return Act(action);
}

}  // namespace agoq
