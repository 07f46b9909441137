#include "proto/common/http_endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// "http://127.0.0.1:9401/metrics"
int PortOf(const HttpEndpoint& endpoint) {
  return std::stoi(endpoint.metrics_url().substr(endpoint.metrics_url().rfind(':') + 1));
}

int NewSocket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// The whole answer, head included.
std::string Get(int port, const std::string& path) {
  const int file = NewSocket();
  const sockaddr_in address = Loopback(port);
  std::string answer;
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ::send(file, request.data(), request.size(), MSG_NOSIGNAL);
    char buffer[4096];
    for (ssize_t got; (got = ::recv(file, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(got));
    }
  }
  ::close(file);
  return answer;
}

class HttpEndpointTest : public ::testing::Test {
 protected:
  std::unique_ptr<HttpEndpoint> Start(std::function<std::string()> reason = nullptr) {
    auto endpoint = HttpEndpoint::Start(
        {.address = "127.0.0.1:0", .not_ready_reason = std::move(reason)}, registry_);
    EXPECT_TRUE(endpoint.ok()) << endpoint.status();
    return *std::move(endpoint);
  }
  absl::Status Problem(const std::string& address) {
    return HttpEndpoint::Start({.address = address}, registry_).status();
  }

  prometheus::Registry registry_;
};

TEST_F(HttpEndpointTest, ServesMetricsAsPrometheusText) {
  auto& family =
      prometheus::BuildCounter().Name("agoq_steps_total").Help("Steps").Register(registry_);
  family.Add({{"job", "a"}}).Increment(3);
  const auto endpoint = Start();
  const std::string answer = Get(PortOf(*endpoint), "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("# TYPE agoq_steps_total counter\n"));
  EXPECT_THAT(answer, HasSubstr("agoq_steps_total{job=\"a\"} 3\n"));
}

TEST_F(HttpEndpointTest, SaysWhyItIsNotReadyAsLongAsItIsNot) {
  std::atomic<bool> is_ready = false;
  const auto endpoint = Start([&] { return is_ready ? "" : "no coordinator yet"; });
  EXPECT_THAT(Get(PortOf(*endpoint), "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("\r\n\r\nno coordinator yet\n")));
  is_ready = true;
  EXPECT_THAT(Get(PortOf(*endpoint), "/readyz"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpEndpointTest, IsAliveWhenItIsNotReady) {
  const auto endpoint = Start([] { return "starting"; });
  EXPECT_THAT(Get(PortOf(*endpoint), "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpEndpointTest, ServesNothingElse) {
  const auto endpoint = Start();
  for (const char* path : {"/", "/etc/passwd", "/../etc/passwd", "/debug"}) {
    EXPECT_THAT(Get(PortOf(*endpoint), path), StartsWith("HTTP/1.1 40")) << path;
  }
}

TEST_F(HttpEndpointTest, NamesAPortThatIsInUse) {
  const auto first = Start();
  const std::string address = "127.0.0.1:" + std::to_string(PortOf(*first));
  const absl::Status problem = Problem(address);
  EXPECT_TRUE(absl::IsUnavailable(problem));
  EXPECT_THAT(std::string(problem.message()),
              AllOf(HasSubstr(address), HasSubstr("in use"), HasSubstr("--metrics-address")));
}

TEST_F(HttpEndpointTest, TakesThePortOfADaemonThatHasJustEnded) {
  auto first = Start();
  const int port = PortOf(*first);
  // The server closes first, so its side of the connection outlives it for a minute.
  ASSERT_THAT(Get(port, "/livez"), StartsWith("HTTP/1.1 200 "));
  first.reset();
  EXPECT_TRUE(Problem("127.0.0.1:" + std::to_string(port)).ok());
}

TEST_F(HttpEndpointTest, EndsAtOnce) {
  auto endpoint = Start();
  const auto begin = std::chrono::steady_clock::now();
  endpoint.reset();
  // civetweb alone takes 2 s.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
}

TEST_F(HttpEndpointTest, RefusesWhatIsNoAddress) {
  for (const char* address : {"", "9401", "127.0.0.1", "127.0.0.1:", "127.0.0.1:port",
                              "127.0.0.1:65536", "127.0.0.1:-1", "nowhere:9401", "[::1]:9401"}) {
    const absl::Status problem = Problem(address);
    EXPECT_TRUE(absl::IsInvalidArgument(problem)) << address << ": " << problem;
    EXPECT_THAT(std::string(problem.message()), HasSubstr("127.0.0.1:9401")) << address;
  }
}

TEST_F(HttpEndpointTest, NamesAnAddressOfAnotherMachine) {
  // Of TEST-NET-1: no machine has it.
  EXPECT_THAT(std::string(Problem("192.0.2.1:0").message()), HasSubstr("192.0.2.1:0"));
}

TEST_F(HttpEndpointTest, TakesLocalhost) { EXPECT_TRUE(Problem("localhost:0").ok()); }

}  // namespace
}  // namespace agoq
