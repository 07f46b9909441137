#include "worker/trainer/attempt.h"

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "worker/comm/gloo_communicator.h"
#include "worker/comm/local_communicator.h"
#include "worker/data/token_dataset.h"
#include "worker/train/trainer.h"
#include "worker/trainer/attempt_listener.h"
#include "worker/trainer/attempt_task.h"
#include "worker/trainer/daemon_key_value_store.h"
#include "worker/trainer/daemon_link.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/failure_kind.h"
#include "worker/trainer/output_checks.h"
#include "worker/trainer/result_file.h"
#include "worker/trainer/stop_forwarding.h"

namespace agoq {
namespace {

struct Outcome {
  TrainerCause cause = TrainerCause::kCompleted;
  std::string message;                // of a failure
  std::optional<TrainReport> report;  // otherwise
};

void Tell(const std::string& text) { std::cerr << "agoq-trainer: " + text + "\n" << std::flush; }

// What is wrong with the job's files, as far as a look shows it. Empty: nothing.
std::string ProblemWithFiles(const AttemptTask& task) {
  try {
    const TokenDataset data(task.options.data_prefix);
    if (!task.options.validation_prefix.empty()) TokenDataset(task.options.validation_prefix);
    if (task.link.rank == 0) CheckOutputs(task.options.checkpoint.directory, "");
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::unique_ptr<Communicator> Connect(const AttemptTask& task, DaemonLink& link) {
  if (task.world == 1) return LocalGroup(1).Join(0);
  CheckGlooLinkage();
  DaemonKeyValueStore store(link, task.options.collective_timeout);
  const GlooOptions gloo = {.rank = static_cast<int>(task.link.rank),
                            .size = task.world,
                            .host = task.host,
                            .connect_timeout = task.options.collective_timeout};
  return ConnectGloo(gloo, store);
}

TrainerCause CauseOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUser:
      return TrainerCause::kUserError;
    case FailureKind::kOutOfMemory:
      return TrainerCause::kOutOfMemory;
    case FailureKind::kCollective:
      return TrainerCause::kCollectiveFailed;
    case FailureKind::kOther:
      break;
  }
  return TrainerCause::kFailed;
}

// Nothing was done, so nothing is lost.
Outcome StoppedBeforeTraining() {
  TrainReport report;
  report.stopped = true;
  return {.cause = TrainerCause::kDrained, .message = "", .report = report};
}

Outcome TrainOrFail(const AttemptTask& task, DaemonLink& link, AttemptListener& listener) {
  std::unique_ptr<Communicator> communicator;
  try {
    communicator = Connect(task, link);
    TrainReport report = Train(task.options, {*communicator, link.stop_request(), listener});
    const TrainerCause cause = report.stopped ? TrainerCause::kDrained : TrainerCause::kCompleted;
    return {.cause = cause, .message = "", .report = std::move(report)};
  } catch (const std::exception& error) {
    if (!communicator && link.stop_request()) return StoppedBeforeTraining();
    if (communicator) communicator->Abort(error.what());
    return {.cause = CauseOf(KindOf(error, listener.has_begun())), .message = error.what()};
  }
}

Outcome ListenAndTrain(const AttemptTask& task, DaemonLink& link) {
  if (!task.problem.empty()) return {.cause = TrainerCause::kUserError, .message = task.problem};
  AttemptListener listener(link, task.link);
  const StartSignal signal = link.WaitForStart();
  if (signal == StartSignal::kStop) return StoppedBeforeTraining();
  if (signal == StartSignal::kLeftAlone) {
    return {.cause = TrainerCause::kStartFailed,
            .message = "no worker daemon has told the trainer to start; see its log"};
  }
  return TrainOrFail(task, link, listener);
}

// Whatever goes wrong has an end that the daemon hears of.
Outcome Execute(const AttemptTask& task, DaemonLink& link) {
  try {
    return ListenAndTrain(task, link);
  } catch (const std::exception& error) {
    return {.cause = TrainerCause::kFailed, .message = error.what()};
  }
}

int Finish(const Outcome& outcome, DaemonLink& link) {
  if (!outcome.message.empty()) Tell(outcome.message);
  if (outcome.report) std::cout << SummaryText(*outcome.report) << std::flush;
  link.End({.cause = outcome.cause,
            .report = outcome.report ? &*outcome.report : nullptr,
            .message = outcome.message});
  return ExitCodeOf(outcome.cause);
}

}  // namespace

int RunAttempt(const std::string& folder) {
  AttemptTask task = ReadAttemptTask(folder);
  if (task.problem.empty()) task.problem = ProblemWithFiles(task);
  task.link.on_stop = [](const std::string& reason) { Tell("asked to stop: " + reason); };
  DaemonLink link(task.link);
  const std::jthread forwarding = ForwardStopSignals(link);
  return Finish(Execute(task, link), link);
}

}  // namespace agoq
