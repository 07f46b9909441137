// One PushLogs call: appends what a worker sends.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "proto/agoq/v1/agent_service.pb.h"
#include "server/log_store.h"

namespace agoq {

// Deletes itself when the call is over.
class LogReceiver : public grpc::ServerReadReactor<v1::PushLogsRequest> {
 public:
  // `logs` outlives it, `response` lives until the call has ended. `checked`: not OK ends the call.
  LogReceiver(LogStore& logs, const absl::Status& checked, v1::PushLogsResponse* response);

  void OnReadDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  LogStore& logs_;
  v1::PushLogsResponse* const response_;
  v1::PushLogsRequest incoming_;
};

}  // namespace agoq
