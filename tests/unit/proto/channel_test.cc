#include "proto/common/channel.h"

#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include <map>
#include <string>

#include "proto/agoq/v1/system_service.grpc.pb.h"
#include "proto/common/grpc_status.h"
#include "proto/common/status.h"

namespace agoq {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

using Values = std::map<std::string, int>;

Values ValuesOf(const grpc::ChannelArguments& arguments) {
  grpc_channel_args view = {};
  arguments.SetChannelArgs(&view);
  Values values;
  for (std::size_t i = 0; i < view.num_args; ++i) {
    if (view.args[i].type != GRPC_ARG_INTEGER) continue;
    values[view.args[i].key] = view.args[i].value.integer;
  }
  return values;
}

// What a server gets.
class OpenBuilder : public grpc::ServerBuilder {
 public:
  Values Limits() {
    SetServerLimits(this);
    grpc::ChannelArguments arguments;
    for (grpc::ServerBuilderOption* option : options()) option->UpdateArguments(&arguments);
    return ValuesOf(arguments);
  }
};

// Case C-01: pings that are faster than the server allows end idle streams again and again.
TEST(Channel, PingsNoFasterThanTheServerAllows) {
  const Values client = ValuesOf(ClientLimits());
  const Values server = OpenBuilder().Limits();
  EXPECT_LE(server.at(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS),
            client.at(GRPC_ARG_KEEPALIVE_TIME_MS));
}

TEST(Channel, PermitsPingsWithoutCallsOnBothSides) {
  for (const Values& values : {ValuesOf(ClientLimits()), OpenBuilder().Limits()}) {
    EXPECT_THAT(values, Contains(Pair(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1)));
    EXPECT_THAT(values, Contains(Pair(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0)));
  }
}

TEST(Channel, ReconnectsWithinFiveSeconds) {
  EXPECT_LE(ValuesOf(ClientLimits()).at(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS), 5000);
}

// Refuses each call with more than gRPC's own limit of 8 KiB lets through.
class RefusingService : public v1::SystemService::Service {
 public:
  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse*) override {
    const std::vector<FieldViolation> fields(100, {"a.key", std::string(200, 'x')});
    return ToGrpc(InvalidFields(std::string(10'000, '\n'), fields));
  }
};

TEST(Channel, CarriesTheLargestErrorDetails) {
  RefusingService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  SetServerLimits(&builder);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = v1::SystemService::NewStub(NewChannel("127.0.0.1:" + std::to_string(port)));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::GetServerInfoResponse info;
  const absl::Status status = FromGrpc(stub->GetServerInfo(&context, {}, &info));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(DetailLines(status), SizeIs(::testing::Gt(50u)));
}

TEST(Channel, KnowsLoopbackAddresses) {
  for (const char* address : {"127.0.0.1", "127.0.0.1:9400", "127.9.9.9:1", "localhost",
                              "localhost:9400", "::1", "[::1]", "[::1]:9400"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
}

TEST(Channel, TakesNoOtherAddressForLoopback) {
  for (const char* address :
       {"", ":9400", "0.0.0.0:9400", "127.example.com:9400", "127.0.0.1.example.com", "[::]:9400",
        "[", "::", "10.0.0.1", "localhost.example.com:1", "unix:/run/agoq", "2001:db8::1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

}  // namespace
}  // namespace agoq
