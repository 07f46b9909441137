#include "proto/common/version.h"

#include <memory>

#include "client/exit_codes.h"
#include "client/job_verb.h"
#include "client/values_text.h"
#include "client/verbs.h"
#include "proto/common/text_table.h"

namespace agoq {
namespace {

struct VersionOptions {
  bool is_client_only = false;
  OutputOptions output;
};

std::string ServerText(const v1::GetServerInfoResponse& info, const std::string& address) {
  std::vector<TableRow> rows = {
      {"coordinator", info.version() + " (" + info.revision() + ") at " + address},
      {"protocol",
       std::to_string(info.protocol_min()) + " to " + std::to_string(info.protocol_max())},
      {"up", ClockText(info.uptime_seconds()) + ", start " + std::to_string(info.epoch())}};
  if (!info.metrics_url().empty()) rows.push_back({"metrics", info.metrics_url()});
  return AlignedText(rows);
}

int ShowVersion(const Invocation& invocation, const VersionOptions& options) {
  std::ostream& out = invocation.console.out;
  const bool is_table = options.output.format == Output::kTable;
  if (is_table) out << "agoq " << Version() << " (" << Revision() << ")\n" << std::flush;
  if (options.is_client_only) return kExitDone;
  Coordinator coordinator = invocation.Connect();
  v1::GetServerInfoResponse info;
  const absl::Status status = coordinator.Call([&](grpc::ClientContext* context) {
    return coordinator.system().GetServerInfo(context, {}, &info);
  });
  if (!status.ok()) return invocation.Fail(status);
  if (!PrintMessage(invocation, options.output.format, info)) {
    out << ServerText(info, coordinator.address());
  }
  return kExitDone;
}

}  // namespace

void AddVersion(CLI::App* app, Invocation* invocation) {
  const auto options = std::make_shared<VersionOptions>();
  CLI::App* const verb =
      app->add_subcommand("version", "Shows the version of this program and of the coordinator");
  verb->add_flag("--client", options->is_client_only, "This program only; makes no call");
  AddOutputOption(verb, &options->output, {Output::kTable, Output::kJson, Output::kYaml});
  verb->footer("JSON and YAML are the coordinator's answer.");
  verb->callback([=] { invocation->action = [=] { return ShowVersion(*invocation, *options); }; });
}

}  // namespace agoq
