// Fault case C-03: calls end in time and name the address.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "client/exit_codes.h"
#include "tests/unit/client/scripted_coordinator.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A port of loopback that nobody serves.
class DeadPort {
 public:
  // Listening: connections come about, but nobody says a word.
  explicit DeadPort(bool is_listening) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    if (is_listening) ::listen(socket_, 16);
    socklen_t size = sizeof(address);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~DeadPort() { ::close(socket_); }
  DeadPort(const DeadPort&) = delete;
  DeadPort& operator=(const DeadPort&) = delete;

  const std::string& address() const { return address_; }

 private:
  const int socket_;
  std::string address_;
};

// Every kind of call, with a time-out of one second, ends within two.
void ExpectToEndInTime(const std::string& address) {
  const std::vector<std::vector<std::string>> calls = {
      {"job", "list"}, {"job", "watch", "a"}, {"job", "logs", "a", "-f"}};
  for (std::vector<std::string> call : calls) {
    call.insert(call.begin(), {"--timeout", "1"});
    const auto start = std::chrono::steady_clock::now();
    const RunOutcome run = RunAgoq(call, address);
    EXPECT_EQ(run.code, kExitUnreachable) << call[3];
    EXPECT_THAT(run.err, AllOf(HasSubstr("coordinator at " + address), HasSubstr("--address")));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << call[3];
  }
}

TEST(Connection, EndsInTimeWhenItIsRefused) {
  const DeadPort port(/*is_listening=*/false);
  ExpectToEndInTime(port.address());
}

TEST(Connection, EndsInTimeWhenThePeerIsSilent) {
  const DeadPort port(/*is_listening=*/true);
  ExpectToEndInTime(port.address());
}

TEST(Connection, EndsInTimeWhenTheNameIsUnknown) { ExpectToEndInTime("no-such-host.invalid:9400"); }

TEST(Connection, SaysThatTheConnectionWasRefused) {
  const DeadPort port(/*is_listening=*/false);
  EXPECT_THAT(RunAgoq({"job", "list", "--timeout", "0.3"}, port.address()).err,
              HasSubstr("Connection refused"));
}

TEST(Connection, NamesThePeerThatIsNoCoordinator) {
  const ScriptedCoordinator coordinator({});
  const RunOutcome run = RunAgoq({"job", "list"}, coordinator.address());
  EXPECT_EQ(run.code, kExitFailed);
  EXPECT_THAT(run.err, HasSubstr("coordinator at " + coordinator.address()));
}

TEST(Connection, RefusesWhatIsNoAddress) {
  for (const std::string address : {"nowhere", ":9400", "host:", "host:0", "host:65536"}) {
    const RunOutcome run = RunAgoq({"job", "list", "--address", address});
    EXPECT_EQ(run.code, kExitUsage);
    EXPECT_THAT(run.err, HasSubstr("'" + address + "' is no address"));
  }
}

TEST(Connection, TakesTheAddressFromTheEnvironment) {
  const DeadPort port(/*is_listening=*/false);
  ::setenv("AGOQ_ADDRESS", port.address().c_str(), 1);
  const RunOutcome run = RunAgoq({"job", "list", "--timeout", "0.3"});
  ::unsetenv("AGOQ_ADDRESS");
  EXPECT_THAT(run.err, HasSubstr(port.address()));
}

}  // namespace
}  // namespace agoq
