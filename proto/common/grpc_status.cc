#include "proto/common/grpc_status.h"

#include <string>

#include "google/rpc/status.pb.h"

namespace agoq {
namespace {

// Both fit into kLargestMetadata of channel.h: gRPC escapes a message, by 3 at most, and writes
// details as base64.
constexpr std::size_t kMostMessageBytes = 4 << 10;
constexpr std::size_t kMostDetailBytes = 32 << 10;

std::string Shortened(std::string text) {
  if (text.size() <= kMostMessageBytes) return text;
  std::size_t end = kMostMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // inside UTF-8
  text.resize(end);
  return text + "...";
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = Shortened(std::string(status.message()));
  google::rpc::Status rich;
  rich.set_code(static_cast<int>(status.code()));
  rich.set_message(message);
  status.ForEachPayload([&](auto type_url, const absl::Cord& payload) {
    google::protobuf::Any& detail = *rich.add_details();
    detail.set_type_url(std::string(type_url));
    detail.set_value(std::string(payload));
  });
  const bool has_room = rich.ByteSizeLong() <= kMostDetailBytes;
  const std::string details = rich.details().empty() || !has_room ? "" : rich.SerializeAsString();
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message, details);
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status rich;
  if (!rich.ParseFromString(status.error_details())) return result;
  for (const google::protobuf::Any& detail : rich.details()) {
    result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return result;
}

}  // namespace agoq
