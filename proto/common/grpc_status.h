// absl::Status <-> grpc::Status, details (google.rpc.Status) included.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

namespace agoq {

// A message over 4 KiB is cut, and details over 32 KiB are left out: gRPC would refuse the whole
// reply.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace agoq
