// A stand-in for agoq-trainer in tests of the daemons: fake_behavior.h says what it does.
//
//     fake_trainer attempt FOLDER
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "tests/support/fake_trainer/fake_training.h"
#include "worker/trainer/attempt_files.h"
#include "worker/trainer/failure.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "attempt") {
    std::cerr << "usage: fake_trainer attempt FOLDER\n";
    return agoq::kExitUsage;
  }
  try {
    const agoq::v1::TrainerTask task = agoq::ReadTaskFile(argv[2]);
    const char* const step_ms = std::getenv("AGOQ_FAKE_STEP_MS");
    return agoq::RunFakeAttempt(argv[2], task,
                                agoq::BehaviorOf(task, step_ms == nullptr ? "" : step_ms));
  } catch (const std::exception& error) {
    std::cerr << "fake_trainer: " << error.what() << "\n";
    return agoq::kExitUsage;
  }
}
