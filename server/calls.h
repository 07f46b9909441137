// What every unary handler does around its own work: authorisation, deadline, the way to the state
// thread and back, metrics.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string>

#include "server/authorizer.h"
#include "server/metrics.h"
#include "server/state_thread.h"

namespace agoq {

struct Call {
  std::string service;   // JobService
  std::string method;    // SubmitJob
  std::string object;    // job or worker; may be empty
  bool mutates = false;  // then the client must give a deadline
};

class Calls {
 public:
  // All outlive it.
  Calls(StateThread& state, const Authorizer& authorizer, CoordinatorMetrics& metrics)
      : state_(state), authorizer_(authorizer), metrics_(metrics) {}

  // Runs `work` on the state thread with the caller's identity and ends the call with its status;
  // request and response live until then.
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const Call& call,
                                   std::function<absl::Status(const Identity&)> work);

  // For streams: who calls, if he may.
  absl::Status Check(const grpc::CallbackServerContext& context, const Call& call) const;
  Identity IdentityOf(const grpc::CallbackServerContext& context) const;

  StateThread& state() { return state_; }

 private:
  StateThread& state_;
  const Authorizer& authorizer_;
  CoordinatorMetrics& metrics_;
};

absl::Status ShuttingDown();

}  // namespace agoq
