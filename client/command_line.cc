#include "client/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>

#include "client/exit_codes.h"
#include "client/verbs.h"
#include "proto/common/nearest_name.h"
#include "proto/common/version.h"

namespace agoq {
namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 the job failed or the operation was refused, 2 usage or job file,\n"
    "3 not found, 4 not allowed, 5 coordinator unreachable, 6 wait timed out, 7 job cancelled,\n"
    "130 interrupted. Data goes to standard output, everything else to standard error.";

CLI::App* AddGroup(CLI::App* app, const std::string& name, const std::string& description) {
  CLI::App* const group = app->add_subcommand(name, description);
  group->require_subcommand(1);
  return group;
}

void AddVerbs(CLI::App* app, Invocation* invocation) {
  CLI::App* const job = AddGroup(app, "job", "Training jobs");
  AddJobSubmit(job, invocation);
  AddJobPlan(job, invocation);
  AddJobList(job, invocation);
  AddJobGet(job, invocation);
  AddJobWatch(job, invocation);
  AddJobWait(job, invocation);
  AddJobCancel(job, invocation);
  AddJobKill(job, invocation);
  AddJobLogs(job, invocation);
  AddJobEvents(job, invocation);
  CLI::App* const worker = AddGroup(app, "worker", "Workers that the coordinator knows");
  AddWorkerList(worker, invocation);
  AddWorkerGet(worker, invocation);
  AddVersion(app, invocation);
  AddCompletion(app, invocation);
}

// The words of the verb that was being read, for the hint.
std::string VerbOf(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands())
    return " " + chosen->get_name() + VerbOf(*chosen);
  return "";
}

// Which word is no verb, and which verb was meant; empty: every word is fine. CLI11 tells only that
// a verb is missing.
std::string UnknownVerb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* group = &app;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--address" || word == "--timeout" || word == "--color") ++i;  // skips its value
    if (word.empty() || word[0] == '-') continue;
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* verb : group->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(verb->get_name());
      if (names.back() == word) next = verb;
    }
    if (names.empty()) return "";
    if (next == nullptr) {
      const std::string nearest = NearestName(word, names);
      return "'" + word + "' is no verb" +
             (nearest.empty() ? "" : "; did you mean " + nearest + "?");
    }
    group = next;
  }
  return "";
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, const Console& console) {
  Invocation invocation(console);
  CLI::App app("Trains LLaMA-class models in less memory: jobs, workers and their plans", "agoq");
  app.set_version_flag("--version", std::string("agoq ") + Version());
  app.footer(kExitCodes);
  app.require_subcommand(1);
  app.fallthrough();  // global options may follow the verb
  AddGlobalOptions(&app, &invocation.options);
  AddVerbs(&app, &invocation);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return invocation.action();
  } catch (const CLI::Success& help) {
    return app.exit(help, console.out, console.err);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = UnknownVerb(app, arguments);
    invocation.Tell((unknown.empty() ? error.what() : unknown) + "\nsee agoq" + VerbOf(app) +
                    " --help");
    return kExitUsage;
  } catch (const std::exception& error) {
    invocation.Tell(error.what());
    return kExitFailed;
  }
}

}  // namespace agoq
