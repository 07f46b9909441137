#include <memory>
#include <sstream>
#include <vector>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {
namespace {

struct LogsOptions {
  std::string job;
  bool follows = false;
  std::vector<std::int64_t> ranks;
  std::int64_t attempt = 0;
  std::int64_t tail = 0;
  OutputOptions output;
};

void PrintLines(std::ostream& out, const v1::TailLogsResponse& part, bool has_prefix) {
  std::istringstream lines(part.text());
  for (std::string line; std::getline(lines, line);) {
    if (has_prefix) out << "rank " << part.rank() << ": ";
    out << line << "\n";
  }
  out << std::flush;
}

v1::TailLogsRequest RequestOf(const LogsOptions& options) {
  v1::TailLogsRequest request;
  request.set_job(options.job);
  request.set_generation(options.attempt);
  request.mutable_ranks()->Add(options.ranks.begin(), options.ranks.end());
  request.set_tail_lines(options.tail);
  request.set_follow(options.follows);
  return request;
}

int Logs(const Invocation& invocation, const LogsOptions& options) {
  const Interrupt interrupt;
  Coordinator coordinator = invocation.Connect();
  const v1::TailLogsRequest request = RequestOf(options);
  const StreamEnd end = coordinator.Read<v1::TailLogsResponse>(
      [&](grpc::ClientContext* context) { return coordinator.jobs().TailLogs(context, request); },
      [&](const v1::TailLogsResponse& part) {
        if (!PrintMessage(invocation, options.output.format, part)) {
          PrintLines(invocation.console.out, part, options.ranks.size() != 1);
        }
        return true;
      },
      interrupt, {.starts_at_once = !options.follows});
  if (interrupt.happened()) {
    invocation.Tell("interrupted; the job goes on, cancel it with: agoq job cancel " + options.job);
    return kExitInterrupted;
  }
  return end.status.ok() ? kExitDone : invocation.Fail(end.status);
}

}  // namespace

void AddJobLogs(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* const verb = group->add_subcommand("logs", "Shows what a job's trainers wrote");
  AddJobArgument(verb, &options->job);
  verb->add_flag("-f,--follow", options->follows, "Go on until the attempt ends, or Ctrl-C");
  verb->add_option("--rank", options->ranks, "Only these ranks")
      ->type_name("RANK")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--attempt", options->attempt, "Attempt, from 1 (default: the newest)")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  verb->add_option("--tail", options->tail, "Only the last lines of each rank")
      ->type_name("LINES")
      ->check(CLI::PositiveNumber);
  AddOutputOption(verb, &options->output, {Output::kTable, Output::kJsonl});
  verb->callback([=] { invocation->action = [=] { return Logs(*invocation, *options); }; });
}

}  // namespace agoq
