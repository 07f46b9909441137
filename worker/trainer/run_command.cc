#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/commands.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/local_launcher.h"
#include "worker/trainer/output_checks.h"
#include "worker/trainer/prepared_job.h"
#include "worker/trainer/run_rank.h"

namespace agoq {
namespace {

struct RunCommand {
  std::string job;
  std::string policy;
  int local_processes = 0;  // 0: not given
  RankOptions rank;
};

// Rank 0, or the launcher for it, tells what is true of all ranks.
void TellAboutJob(const PreparedJob& job) {
  for (const std::string& warning : job.warnings) std::cerr << "warning: " << warning << "\n";
  std::cerr << job.plan_table << std::flush;
}

void CheckWorld(const std::string& option, int value, int num_ranks) {
  if (value == num_ranks) return;
  throw UsageError(option + " " + std::to_string(value) + ": the job's mesh has " +
                   std::to_string(num_ranks) + (num_ranks == 1 ? " rank" : " ranks") + "; give " +
                   option + " " + std::to_string(num_ranks) + " or change mesh.data");
}

void CheckRanks(const RunCommand& command, int num_ranks) {
  if (command.local_processes > 0) {
    CheckWorld("--local-processes", command.local_processes, num_ranks);
    return;
  }
  if (command.rank.rendezvous.empty() && num_ranks > 1) {
    throw UsageError("the job's mesh has " + std::to_string(num_ranks) +
                     " ranks; give --local-processes " + std::to_string(num_ranks) +
                     ", or --rank, --world and --rendezvous");
  }
  CheckWorld("--world", command.rank.world, num_ranks);
  if (command.rank.rank < command.rank.world) return;
  throw UsageError("--rank " + std::to_string(command.rank.rank) + ": not below --world " +
                   std::to_string(command.rank.world) + "; ranks count from 0");
}

std::vector<std::string> ArgumentsOfRank(const RunCommand& command, int rank,
                                         const std::string& rendezvous) {
  std::vector<std::string> arguments = {"run",
                                        command.job,
                                        "--rank",
                                        std::to_string(rank),
                                        "--world",
                                        std::to_string(command.local_processes),
                                        "--rendezvous",
                                        rendezvous,
                                        "--launcher-pid",
                                        std::to_string(::getpid())};
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {option, value});
  };
  add("--policy", command.policy);
  if (rank == 0) add("--result", command.rank.result_path);
  return arguments;
}

int Launch(const RunCommand& command) {
  LaunchOptions options;
  options.num_ranks = command.local_processes;
  options.program = std::filesystem::read_symlink("/proc/self/exe").string();
  options.arguments_of = [&](int rank, const std::string& rendezvous) {
    return ArgumentsOfRank(command, rank, rendezvous);
  };
  return LaunchLocalRanks(options);
}

int Run(const RunCommand& command) {
  const PreparedJob job = PrepareJob(command.job, command.policy);
  CheckRanks(command, job.num_ranks);
  const bool is_launched = command.rank.launcher_pid != 0;
  if (command.rank.rank == 0 && !is_launched) {
    CheckOutputs(job.options.checkpoint.directory, command.rank.result_path);
    TellAboutJob(job);
  }
  if (command.local_processes > 1) return Launch(command);
  return RunRank(job, command.rank);
}

}  // namespace

void AddRunCommand(CLI::App* app, Action* action) {
  auto command = std::make_shared<RunCommand>();  // shared with the callback below
  CLI::App* run =
      app->add_subcommand("run", "Train a job, from its newest checkpoint if it has one");
  run->add_option("job", command->job, "Job file (YAML)")->required();
  CLI::Option* local = run->add_option("--local-processes", command->local_processes,
                                       "Start N ranks on this machine")
                           ->check(CLI::Range(1, 1024));
  CLI::Option* rank = run->add_option("--rank", command->rank.rank, "This process is rank R")
                          ->check(CLI::NonNegativeNumber);
  CLI::Option* world = run->add_option("--world", command->rank.world, "Number of ranks")
                           ->check(CLI::PositiveNumber);
  CLI::Option* rendezvous = run->add_option("--rendezvous", command->rank.rendezvous,
                                            "Fresh folder that all ranks reach");
  run->add_option("--host", command->rank.host,
                  "Name or address that other ranks reach this one at")
      ->capture_default_str()
      ->needs(rendezvous);
  run->add_option(
      "--policy", command->policy,
      "What is kept for backward: full, paper, recompute, or a plan's JSON file; replaces "
      "the job's plan");
  run->add_option("--result", command->rank.result_path, "Write the outcome as JSON");
  run->add_option("--launcher-pid", command->rank.launcher_pid, "Set by --local-processes")
      ->group("");
  for (CLI::Option* option : {rank, world, rendezvous}) {
    option->excludes(local)->needs(rank)->needs(world)->needs(rendezvous);
  }
  run->callback([command, action] { *action = [command] { return Run(*command); }; });
}

}  // namespace agoq
