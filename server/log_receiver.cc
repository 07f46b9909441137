#include "server/log_receiver.h"

#include "proto/common/grpc_status.h"

namespace agoq {

LogReceiver::LogReceiver(LogStore& logs, const absl::Status& checked,
                         v1::PushLogsResponse* response)
    : logs_(logs), response_(response) {
  if (checked.ok()) {
    StartRead(&incoming_);
  } else {
    Finish(ToGrpc(checked));
  }
}

void LogReceiver::OnReadDone(bool ok) {
  if (!ok) return Finish(grpc::Status::OK);
  const absl::StatusOr<std::int64_t> reached =
      logs_.Append(incoming_.id(), incoming_.offset(), incoming_.text());
  if (!reached.ok()) return Finish(ToGrpc(reached.status()));
  response_->set_offset(*reached);
  StartRead(&incoming_);
}

}  // namespace agoq
