#include "worker/daemon/coordinator_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "proto/common/channel.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/daemon/moved_clock.h"
#include "tests/unit/daemon/scripted_coordinator.h"

namespace agoq {
namespace {

using testing::HasSubstr;
using Message = v1::WorkerMessage;

class CoordinatorSessionTest : public testing::Test {
 protected:
  void Connect() {
    session_ = std::make_unique<CoordinatorSession>(
        NewChannel(address_),
        SessionCallbacks{
            .hello =
                [] {
                  v1::Hello hello;
                  hello.set_worker("w1");
                  return hello;
                },
            .heartbeat = [] { return v1::Heartbeat(); },
            .on_welcome = [this](const v1::Welcome& welcome) { welcomes_.Put(welcome); },
            .on_command =
                [this](const v1::CoordinatorMessage& command) {
                  commands_.Put(command);
                  return command.abort().reason();
                }},
        SessionParts{outbox_, connection_, metrics_, clock_, log_});
  }
  // Its reason to be not connected, once it has that text in it.
  std::string AwaitReason(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
    std::string reason = connection_.not_connected_reason();
    while (reason.find(text) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
      reason = connection_.not_connected_reason();
    }
    return reason;
  }
  static v1::CoordinatorMessage Abort(std::int64_t epoch, std::int64_t command,
                                      const std::string& reason) {
    v1::CoordinatorMessage message;
    message.set_epoch(epoch);
    message.set_command_id(command);
    message.mutable_abort()->set_reason(reason);
    return message;
  }
  std::string Metrics() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

  TemporaryFolder folder_;
  const std::string address_ = "unix:" + (folder_ / "coordinator");
  MovedClock clock_;
  Log log_{"test", "error"};
  prometheus::Registry registry_;
  WorkerMetrics metrics_{{.worker = "w", .version = "0"}, registry_};
  ConnectionState connection_{clock_, address_};
  Outbox outbox_;
  AwaitedQueue<v1::Welcome> welcomes_;
  AwaitedQueue<v1::CoordinatorMessage> commands_;
  ScriptedCoordinator coordinator_{address_};
  std::unique_ptr<CoordinatorSession> session_;
};

TEST_F(CoordinatorSessionTest, SaysHelloWithItsProtocol) {
  Connect();
  const v1::Hello hello = coordinator_.AwaitSession()->Await(Message::kHello).hello();
  EXPECT_EQ(hello.worker(), "w1");
  EXPECT_EQ(hello.protocol_min(), 1);
  EXPECT_EQ(hello.protocol_max(), 1);
}

TEST_F(CoordinatorSessionTest, BeatsFromTheWelcomeOn) {
  Connect();
  const auto session = coordinator_.AwaitSession();
  ASSERT_TRUE(session->Welcome(1, /*heartbeat_seconds=*/0.001));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(session->Await(Message::kHeartbeat).heartbeat().sequence(), i);
  }
  EXPECT_TRUE(connection_.is_connected());
  EXPECT_THAT(Metrics(), HasSubstr("agoq_coordinator_connected 1"));
}

TEST_F(CoordinatorSessionTest, SendsWhatIsPutIntoTheOutbox) {
  Connect();
  const auto session = coordinator_.AwaitSession();
  ASSERT_TRUE(session->Welcome(1));
  ASSERT_TRUE(welcomes_.Take());
  Message message;
  message.mutable_task_status()->set_note("text");
  outbox_.Put(message);
  EXPECT_EQ(session->Await(Message::kTaskStatus).task_status().note(), "text");
}

TEST_F(CoordinatorSessionTest, AcknowledgesCommandsThatWantIt) {
  Connect();
  const auto session = coordinator_.AwaitSession();
  ASSERT_TRUE(session->Welcome(1));
  ASSERT_TRUE(session->Send(Abort(1, 0, "silent")));
  ASSERT_TRUE(session->Send(Abort(1, 7, "")));
  ASSERT_TRUE(session->Send(Abort(1, 8, "refused")));
  EXPECT_EQ(session->Await(Message::kAck).ack().command_id(), 7);
  const v1::Ack second = session->Await(Message::kAck).ack();
  EXPECT_EQ(second.command_id(), 8);
  EXPECT_EQ(second.problem(), "refused");
}

TEST_F(CoordinatorSessionTest, IgnoresCommandsOfAnOlderEpoch) {
  Connect();
  const auto session = coordinator_.AwaitSession();
  ASSERT_TRUE(session->Welcome(5));
  ASSERT_TRUE(session->Send(Abort(4, 1, "old")));
  ASSERT_TRUE(session->Send(Abort(5, 2, "new")));
  EXPECT_EQ(commands_.Take()->abort().reason(), "new");
  EXPECT_EQ(session->Await(Message::kAck).ack().command_id(), 2);
}

TEST_F(CoordinatorSessionTest, ComesBackAfterACut) {
  Connect();
  const auto first = coordinator_.AwaitSession();
  ASSERT_TRUE(first->Welcome(1));
  ASSERT_TRUE(welcomes_.Take());
  first->Cut();
  const auto second = coordinator_.AwaitSession();
  EXPECT_EQ(second->Await(Message::kHello).hello().worker(), "w1");
  ASSERT_TRUE(second->Welcome(1));
  ASSERT_TRUE(welcomes_.Take());
  EXPECT_THAT(Metrics(), HasSubstr("agoq_reconnects_total 1"));
}

TEST_F(CoordinatorSessionTest, ComesBackToACoordinatorThatStartedAgain) {
  Connect();
  ASSERT_TRUE(coordinator_.AwaitSession()->Welcome(1));
  ASSERT_TRUE(welcomes_.Take());
  coordinator_.Leave();
  AwaitReason("no coordinator at");
  coordinator_.Listen();
  const auto session = coordinator_.AwaitSession();
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->Welcome(2));
  EXPECT_TRUE(welcomes_.Take());
}

TEST_F(CoordinatorSessionTest, WaitsForACoordinatorThatIsNotThereYet) {
  coordinator_.Leave();
  Connect();
  EXPECT_THAT(AwaitReason("unix:"), HasSubstr(address_));
  coordinator_.Listen();
  EXPECT_TRUE(coordinator_.AwaitSession());
}

TEST_F(CoordinatorSessionTest, ARefusedNameIsToldAndTriedAgain) {
  coordinator_.Refuse({grpc::StatusCode::ALREADY_EXISTS, "worker w1 is connected already"});
  Connect();
  EXPECT_TRUE(coordinator_.AwaitSession());
  EXPECT_THAT(AwaitReason("w1 is connected"), HasSubstr("worker w1 is connected already"));
  EXPECT_TRUE(coordinator_.AwaitSession());
}

TEST_F(CoordinatorSessionTest, AnotherProtocolIsToldAndTriedAgain) {
  Connect();
  const auto session = coordinator_.AwaitSession();
  v1::CoordinatorMessage welcome;
  welcome.mutable_welcome()->set_protocol(99);
  ASSERT_TRUE(session->Send(welcome));
  EXPECT_THAT(AwaitReason("protocol"), HasSubstr("it speaks protocol version 99, this worker 1"));
  EXPECT_TRUE(coordinator_.AwaitSession());
  EXPECT_TRUE(welcomes_.is_empty());
}

TEST_F(CoordinatorSessionTest, ACoordinatorOfAnOlderEpochIsRefused) {
  Connect();
  const auto first = coordinator_.AwaitSession();
  ASSERT_TRUE(first->Welcome(5));
  ASSERT_TRUE(welcomes_.Take());
  first->Cut();
  ASSERT_TRUE(coordinator_.AwaitSession()->Welcome(4));
  EXPECT_THAT(AwaitReason("epoch 4"), HasSubstr("epoch 4 is older than 5"));
  EXPECT_TRUE(coordinator_.AwaitSession());
}

TEST_F(CoordinatorSessionTest, EndsWhileItWaits) {
  coordinator_.Leave();
  Connect();
  session_.reset();
}

TEST(OutboxTest, DropsWhatComesWithoutASession) {
  Outbox outbox;
  outbox.Put(Message());
  outbox.Open();
  EXPECT_FALSE(outbox.Take({}, std::chrono::steady_clock::now()));
  outbox.Put(Message());
  EXPECT_TRUE(outbox.Take({}, std::chrono::steady_clock::now()));
}

TEST(ConnectionStateTest, IsAnOrphanAfterTheLimitAlone) {
  MovedClock clock;
  ConnectionState connection(clock, "c:1");
  connection.SetConnected(/*orphan_limit_seconds=*/10);
  clock.Move(std::chrono::hours(1));
  EXPECT_FALSE(connection.is_orphan());
  connection.SetLost("gone");
  clock.Move(std::chrono::seconds(5));
  connection.SetLost("still gone");
  EXPECT_EQ(connection.orphan_seconds(), 5);
  clock.Move(std::chrono::seconds(6));
  EXPECT_TRUE(connection.is_orphan());
}

TEST(ConnectionStateTest, ALimitOfZeroIsForEver) {
  MovedClock clock;
  ConnectionState connection(clock, "c:1");
  connection.SetConnected(/*orphan_limit_seconds=*/0);
  connection.SetLost("gone");
  clock.Move(std::chrono::hours(1000));
  EXPECT_FALSE(connection.is_orphan());
}

TEST(ReconnectPauseTest, GrowsToFiveSecondsWithAFifthOfJitter) {
  ReconnectPause pause(1);
  EXPECT_NEAR(pause.Next().count(), 0.1, 0.02001);
  EXPECT_NEAR(pause.Next().count(), 0.2, 0.04001);
  for (int i = 0; i < 10; ++i) pause.Next();
  EXPECT_NEAR(pause.Next().count(), 5, 1.001);
  pause.Reset();
  EXPECT_NEAR(pause.Next().count(), 0.1, 0.02001);
}

}  // namespace
}  // namespace agoq
