#include <algorithm>
#include <memory>
#include <vector>

#include "client/event_text.h"
#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/verbs.h"

namespace agoq {
namespace {

struct EventsOptions {
  std::string job;
  std::int64_t after = 0;
  OutputOptions output;
};

constexpr int kPage = 1000;

// All pages, as one.
absl::Status ListAll(Coordinator& coordinator, const EventsOptions& options,
                     v1::ListEventsResponse* all) {
  v1::ListEventsRequest request;
  request.set_job(options.job);
  request.set_after_sequence(options.after);
  request.set_page_size(kPage);
  v1::ListEventsResponse page;
  do {
    const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
      return coordinator.jobs().ListEvents(context, request, &page);
    });
    if (!status.ok()) return status;
    all->MergeFrom(page);
    if (!page.events().empty()) request.set_after_sequence(page.events().rbegin()->sequence());
  } while (page.more() && !page.events().empty());
  all->set_more(false);
  return absl::OkStatus();
}

int Events(const Invocation& invocation, const EventsOptions& options) {
  Coordinator coordinator = invocation.Connect();
  v1::ListEventsResponse all;
  const absl::Status status = ListAll(coordinator, options, &all);
  if (!status.ok()) return invocation.Fail(status);
  if (options.output.format == Output::kJsonl) {
    for (const v1::Event& event : all.events()) PrintMessage(invocation, Output::kJsonl, event);
    return kExitDone;
  }
  if (PrintMessage(invocation, options.output.format, all)) return kExitDone;
  invocation.console.out << EventTable({all.events().begin(), all.events().end()},
                                       TextOptionsOf(invocation, options.output))
                         << std::flush;
  return kExitDone;
}

}  // namespace

void AddJobEvents(CLI::App* group, Invocation* invocation) {
  const auto options = std::make_shared<EventsOptions>();
  CLI::App* const verb = group->add_subcommand("events", "Lists what happened, the oldest first");
  verb->add_option("job", options->job, "Id or name (default: events of everything)")
      ->type_name("JOB");
  verb->add_option("--after", options->after, "Only events after this sequence number")
      ->type_name("SEQUENCE")
      ->check(CLI::NonNegativeNumber);
  AddOutputOption(verb, &options->output,
                  {Output::kTable, Output::kWide, Output::kJson, Output::kYaml, Output::kJsonl});
  AddHeaderOption(verb, &options->output);
  verb->callback([=] { invocation->action = [=] { return Events(*invocation, *options); }; });
}

}  // namespace agoq
