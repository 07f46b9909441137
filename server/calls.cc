#include "server/calls.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <chrono>
#include <utility>

#include "proto/common/grpc_status.h"
#include "proto/common/status.h"

namespace agoq {
namespace {

bool HasDeadline(const grpc::CallbackServerContext& context) {
  return context.deadline() != std::chrono::system_clock::time_point::max();
}

}  // namespace

absl::Status ShuttingDown() {
  return absl::UnavailableError("the coordinator is shutting down; try again soon");
}

Identity Calls::IdentityOf(const grpc::CallbackServerContext& context) const {
  return {.name = "local", .peer = context.peer()};
}

absl::Status Calls::Check(const grpc::CallbackServerContext& context, const Call& call) const {
  const std::string method = absl::StrCat(call.service, "/", call.method);
  return authorizer_.Check(IdentityOf(context), method, call.object);
}

grpc::ServerUnaryReactor* Calls::Answer(grpc::CallbackServerContext* context, const Call& call,
                                        std::function<absl::Status(const Identity&)> work) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [this, reactor, start, service = call.service,
                       method = call.method](const absl::Status& status) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    metrics_.OnRpc(service, method, absl::StatusCodeToString(status.code()), time.count());
    reactor->Finish(ToGrpc(status));
  };
  absl::Status checked = Check(*context, call);
  if (checked.ok() && call.mutates && !HasDeadline(*context)) {
    checked = InvalidFields(absl::StrCat(call.method, ": the call has no deadline"),
                            {{"grpc-timeout", "set a deadline, like 30 s"}});
  }
  if (!checked.ok()) {
    finish(checked);
    return reactor;
  }
  const bool is_posted = state_.Post([finish, work = std::move(work),
                                      identity = IdentityOf(*context)] { finish(work(identity)); });
  if (!is_posted) finish(ShuttingDown());
  return reactor;
}

}  // namespace agoq
