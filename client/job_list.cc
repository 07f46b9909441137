#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "client/exit_codes.h"
#include "client/job_table.h"
#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {
namespace {

struct ListOptions {
  std::vector<std::string> states;
  std::string name_prefix;
  std::int64_t limit = 0;
  OutputOptions output;
};

constexpr int kPage = 500;

std::vector<std::string> StateWords() {
  std::vector<std::string> words;
  for (int state = v1::JOB_STATE_QUEUED; state <= v1::JobState_MAX; ++state) {
    words.push_back(StateText(static_cast<v1::JobState>(state)));
  }
  return words;
}

v1::ListJobsRequest RequestOf(const ListOptions& options) {
  v1::ListJobsRequest request;
  request.set_page_size(kPage);
  request.set_name_prefix(options.name_prefix);
  for (int state = v1::JOB_STATE_QUEUED; state <= v1::JobState_MAX; ++state) {
    const auto& wanted = options.states;
    const auto value = static_cast<v1::JobState>(state);
    if (std::find(wanted.begin(), wanted.end(), StateText(value)) != wanted.end()) {
      request.add_states(value);
    }
  }
  return request;
}

// All pages, as one.
absl::Status ListAll(Coordinator& coordinator, const ListOptions& options,
                     v1::ListJobsResponse* all) {
  v1::ListJobsRequest request = RequestOf(options);
  const auto has_enough = [&] { return options.limit > 0 && all->jobs_size() >= options.limit; };
  do {
    v1::ListJobsResponse page;
    const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
      return coordinator.jobs().ListJobs(context, request, &page);
    });
    if (!status.ok()) return status;
    for (v1::Job& job : *page.mutable_jobs()) {
      if (!has_enough()) *all->add_jobs() = std::move(job);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && !has_enough());
  return absl::OkStatus();
}

int List(const Invocation& invocation, const ListOptions& options) {
  Coordinator coordinator = invocation.Connect();
  v1::ListJobsResponse all;
  const absl::Status status = ListAll(coordinator, options, &all);
  if (!status.ok()) return invocation.Fail(status);
  std::ostream& out = invocation.console.out;
  if (options.output.format == Output::kName || options.output.format == Output::kJsonl) {
    for (const v1::Job& job : all.jobs()) {
      if (!PrintMessage(invocation, options.output.format, job)) out << job.id() << "\n";
    }
    return kExitDone;
  }
  if (PrintMessage(invocation, options.output.format, all)) return kExitDone;
  if (all.jobs().empty()) {
    invocation.Note("no jobs");
    return kExitDone;
  }
  out << JobTable({all.jobs().begin(), all.jobs().end()},
                  TextOptionsOf(invocation, options.output));
  return kExitDone;
}

}  // namespace

void AddJobList(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* const verb = group->add_subcommand("list", "Lists jobs, the newest first");
  verb->add_option("--state", options->states, "Only jobs in these states")
      ->type_name("STATE")
      ->delimiter(',')
      ->check(CLI::IsMember(StateWords()));
  verb->add_option("--name", options->name_prefix, "Only jobs whose name begins so")
      ->type_name("PREFIX");
  verb->add_option("--limit", options->limit, "Only the newest ones")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber);
  AddOutputOption(
      verb, &options->output,
      {Output::kTable, Output::kWide, Output::kJson, Output::kYaml, Output::kName, Output::kJsonl});
  AddHeaderOption(verb, &options->output);
  verb->callback([=] { invocation->action = [=] { return List(*invocation, *options); }; });
}

}  // namespace agoq
