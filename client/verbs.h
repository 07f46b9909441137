// The verbs: each adds itself to its group and, once given, sets the invocation's action. The
// invocation outlives the parser.
#pragma once

#include <CLI/CLI.hpp>

#include "client/invocation.h"

namespace agoq {

void AddJobSubmit(CLI::App* group, Invocation* invocation);
void AddJobPlan(CLI::App* group, Invocation* invocation);
void AddJobList(CLI::App* group, Invocation* invocation);
void AddJobGet(CLI::App* group, Invocation* invocation);
void AddJobWatch(CLI::App* group, Invocation* invocation);
void AddJobWait(CLI::App* group, Invocation* invocation);
void AddJobCancel(CLI::App* group, Invocation* invocation);
void AddJobKill(CLI::App* group, Invocation* invocation);
void AddJobLogs(CLI::App* group, Invocation* invocation);
void AddJobEvents(CLI::App* group, Invocation* invocation);

void AddWorkerList(CLI::App* group, Invocation* invocation);
void AddWorkerGet(CLI::App* group, Invocation* invocation);

void AddVersion(CLI::App* app, Invocation* invocation);
void AddCompletion(CLI::App* app, Invocation* invocation);

}  // namespace agoq
