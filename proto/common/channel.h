// gRPC settings that both sides of a connection must agree on: keepalive and limits.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <memory>
#include <string>

namespace agoq {

inline constexpr std::chrono::seconds kKeepaliveTime{20};
inline constexpr std::chrono::seconds kKeepaliveTimeout{10};
// The server's least interval of pings; must not exceed kKeepaliveTime.
inline constexpr std::chrono::seconds kLeastPingInterval{10};
// Details of errors travel in trailers, which gRPC would cut at 8 KiB.
inline constexpr int kLargestMetadata = 64 << 10;  // bytes

// A channel to host:port, without TLS (loopback only in this version); reconnects after 0.1 to 5 s.
std::shared_ptr<grpc::Channel> NewChannel(const std::string& address);

// What NewChannel sets.
grpc::ChannelArguments ClientLimits();
void SetServerLimits(grpc::ServerBuilder* builder);

// True for 127.0.0.0/8, ::1 and localhost, with or without a port.
bool IsLoopback(const std::string& address);

}  // namespace agoq
