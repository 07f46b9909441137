#include "worker/daemon/key_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "proto/common/channel.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/daemon/scripted_coordinator.h"

namespace agoq {
namespace {

using testing::HasSubstr;

class KeyRelayTest : public testing::Test {
 protected:
  static v1::RankId Id() {
    v1::RankId id;
    id.set_job_id("job");
    id.set_generation(2);
    return id;
  }
  void Wait(const std::string& key, double seconds) {
    v1::KeyWait wait;
    wait.set_request(3);
    wait.set_key(key);
    wait.set_timeout_seconds(seconds);
    relay_->Wait(Id(), wait, [this](const v1::KeyAnswer& answer) { answers_.Put(answer); });
  }

  TemporaryFolder folder_;
  const std::string address_ = "unix:" + (folder_ / "coordinator");
  AwaitedQueue<v1::KeyAnswer> answers_;
  ScriptedCoordinator coordinator_{address_};
  std::unique_ptr<KeyRelay> relay_ = std::make_unique<KeyRelay>(NewChannel(address_));
};

TEST_F(KeyRelayTest, SetsAKey) {
  coordinator_.key_replies.Put({});
  v1::KeySet set;
  set.set_request(9);
  set.set_key("rank0");
  set.set_value("address");
  relay_->Set(Id(), set, [this](const v1::KeyAnswer& answer) { answers_.Put(answer); });
  EXPECT_EQ(coordinator_.asked_keys.Take(), "rank0=address");
  const auto answer = answers_.Take();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->request(), 9);
  EXPECT_EQ(answer->problem(), "");
}

TEST_F(KeyRelayTest, BringsTheValueOfAKey) {
  coordinator_.key_replies.Put({{}, "value"});
  Wait("rank1", 20);
  const auto answer = answers_.Take();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->request(), 3);
  EXPECT_EQ(answer->value(), "value");
}

TEST_F(KeyRelayTest, TellsWhyTheCoordinatorRefuses) {
  coordinator_.key_replies.Put({{grpc::StatusCode::ABORTED, "generation 2 is over"}, ""});
  Wait("rank1", 20);
  EXPECT_EQ(answers_.Take()->problem(),
            "key 'rank1' of job job, generation 2: generation 2 is over");
}

TEST_F(KeyRelayTest, NamesAKeyThatDidNotCome) {
  Wait("never", 0.05);
  EXPECT_THAT(answers_.Take()->problem(), HasSubstr("key 'never' of job job, generation 2"));
}

TEST_F(KeyRelayTest, TriesAgainWhenTheCoordinatorWasAway) {
  coordinator_.key_replies.Put({{grpc::StatusCode::UNAVAILABLE, "restarting"}, ""});
  coordinator_.key_replies.Put({{}, "value"});
  Wait("rank1", 20);
  EXPECT_EQ(answers_.Take()->value(), "value");
}

TEST_F(KeyRelayTest, WaitsForACoordinatorThatIsNotThere) {
  coordinator_.Leave();
  coordinator_.key_replies.Put({{}, "value"});
  Wait("rank1", 20);
  coordinator_.Listen();
  EXPECT_EQ(answers_.Take()->value(), "value");
}

TEST_F(KeyRelayTest, EndsWithoutAnAnswerWhileARequestIsOpen) {
  Wait("never", 600);
  ASSERT_TRUE(coordinator_.asked_keys.Take());
  relay_.reset();
  EXPECT_TRUE(answers_.is_empty());
}

// Let go of on gRPC's own thread, the last reference to a channel ends the process.
TEST_F(KeyRelayTest, LetsGoOfTheChannelBeforeItEnds) {
  for (int round = 0; round < 100; ++round) {
    std::shared_ptr<grpc::Channel> channel = NewChannel(address_);
    const std::weak_ptr<grpc::Channel> watched = channel;
    relay_ = std::make_unique<KeyRelay>(channel);
    channel.reset();
    coordinator_.key_replies.Put({{}, "value"});
    Wait("rank1", 20);
    ASSERT_TRUE(answers_.Take());
    relay_.reset();
    ASSERT_TRUE(watched.expired()) << "round " << round;
  }
}

}  // namespace
}  // namespace agoq
