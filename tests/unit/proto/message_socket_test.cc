#include "proto/common/message_socket.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "proto/agoq/v1/trainer.pb.h"
#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::NotNull;
using Received = MessageSocket::Received;

constexpr milliseconds kLong{30'000};
constexpr milliseconds kNoTime{0};

v1::FromTrainer Note(const std::string& text) {
  v1::FromTrainer message;
  message.mutable_note()->set_text(text);
  return message;
}

class ConnectedPair : public ::testing::Test {
 protected:
  ConnectedPair() {
    int files[2] = {};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files) != 0) std::abort();
    a_ = std::make_unique<MessageSocket>(files[0]);
    b_ = std::make_unique<MessageSocket>(files[1]);
    raw_ = files[0];
  }
  void SendRaw(const std::string& bytes) {
    ASSERT_EQ(::send(raw_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What b gets next.
  std::string Next() {
    v1::FromTrainer message;
    const Received received = b_->Receive(&message, kLong);
    return received == Received::kMessage ? message.note().text() : "(none)";
  }

  std::unique_ptr<MessageSocket> a_, b_;
  int raw_ = -1;  // of a_
};

TEST_F(ConnectedPair, GivesMessagesInTheirOrder) {
  EXPECT_TRUE(a_->Send(Note("one")));
  EXPECT_TRUE(a_->Send(Note("two")));
  EXPECT_EQ(Next(), "one");
  EXPECT_EQ(Next(), "two");
}

TEST_F(ConnectedPair, SpeaksBothWays) {
  EXPECT_TRUE(b_->Send(v1::ToTrainer()));
  v1::ToTrainer message;
  EXPECT_EQ(a_->Receive(&message, kLong), Received::kMessage);
}

TEST_F(ConnectedPair, WritesTheLengthInFourBytesLittleEndian) {
  EXPECT_TRUE(b_->Send(Note(std::string(300, 'x'))));
  const std::string body = Note(std::string(300, 'x')).SerializeAsString();
  std::string bytes(body.size() + 4, '\0');
  ASSERT_EQ(::recv(raw_, bytes.data(), bytes.size(), MSG_WAITALL),
            static_cast<ssize_t>(bytes.size()));
  const std::string head = {static_cast<char>(body.size() % 256),
                            static_cast<char>(body.size() / 256), 0, 0};
  EXPECT_EQ(bytes, head + body);
}

TEST_F(ConnectedPair, TakesAMessageWithoutBytes) {
  EXPECT_TRUE(a_->Send(v1::FromTrainer()));
  v1::FromTrainer message = Note("old");
  EXPECT_EQ(b_->Receive(&message, kLong), Received::kMessage);
  EXPECT_FALSE(message.has_note());
}

TEST_F(ConnectedPair, TakesAMessageThatFillsTheSocketManyTimes) {
  const std::string text(8 << 20, 'x');
  std::jthread sender([&] { EXPECT_TRUE(a_->Send(Note(text))); });
  EXPECT_EQ(Next(), text);
}

TEST_F(ConnectedPair, KeepsMessagesOfThreadsApart) {
  const std::string text(50'000, 'x');
  std::vector<std::jthread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      for (int k = 0; k < 50; ++k) EXPECT_TRUE(a_->Send(Note(text)));
    });
  }
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Next(), text);
}

TEST_F(ConnectedPair, SaysThatTheTimePassed) {
  v1::FromTrainer message;
  EXPECT_EQ(b_->Receive(&message, kNoTime), Received::kTimeout);
  EXPECT_TRUE(a_->Send(Note("later")));
  EXPECT_EQ(Next(), "later");
}

TEST_F(ConnectedPair, SaysThatThePeerIsGone) {
  a_.reset();
  v1::FromTrainer message;
  EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
  EXPECT_FALSE(b_->Send(Note("to nobody")));
}

TEST_F(ConnectedPair, GivesWhatAPeerSentBeforeItWent) {
  EXPECT_TRUE(a_->Send(Note("last words")));
  a_.reset();
  EXPECT_EQ(Next(), "last words");
}

TEST_F(ConnectedPair, ClosesOnALengthThatIsTooLarge) {
  SendRaw("\xff\xff\xff\x7f");
  v1::FromTrainer message;
  EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
}

TEST_F(ConnectedPair, ClosesOnBytesThatAreNoMessage) {
  SendRaw(std::string("\x03\0\0\0\xff\xff\xff", 7));
  v1::FromTrainer message;
  EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
}

TEST_F(ConnectedPair, ClosesOnAMessageThatWasCut) {
  SendRaw(std::string("\x09\0\0\0abc", 7));
  a_.reset();
  v1::FromTrainer message;
  EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
}

TEST_F(ConnectedPair, RefusesToSendAMessageThatIsTooLarge) {
  EXPECT_FALSE(a_->Send(Note(std::string(kLargestSocketMessage + 1, 'x'))));
  EXPECT_TRUE(a_->Send(Note("small")));
  EXPECT_EQ(Next(), "small");
}

TEST_F(ConnectedPair, WakesAReceiverOnShutdown) {
  std::jthread receiver([&] {
    v1::FromTrainer message;
    EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
  });
  b_->Shutdown();
}

TEST_F(ConnectedPair, WakesAReceiverInTheMiddleOfAMessage) {
  SendRaw(std::string("\x09\0\0\0abc", 7));
  std::jthread receiver([&] {
    v1::FromTrainer message;
    EXPECT_EQ(b_->Receive(&message, kLong), Received::kClosed);
  });
  b_->Shutdown();
}

class Listening : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "trainer.sock";
};

TEST_F(Listening, ConnectsTwoEnds) {
  MessageListener listener(path_);
  const auto near = ConnectMessageSocket(path_);
  const auto far = listener.Accept(kLong);
  ASSERT_THAT(near, NotNull());
  ASSERT_THAT(far, NotNull());
  EXPECT_TRUE(near->Send(Note("hello")));
  v1::FromTrainer message;
  EXPECT_EQ(far->Receive(&message, kLong), Received::kMessage);
  EXPECT_EQ(message.note().text(), "hello");
}

TEST_F(Listening, AcceptsNobodyWhenTheTimePassed) {
  EXPECT_THAT(MessageListener(path_).Accept(kNoTime), IsNull());
}

TEST_F(Listening, WakesAnAcceptOnShutdown) {
  MessageListener listener(path_);
  std::jthread acceptor([&] { EXPECT_THAT(listener.Accept(kLong), IsNull()); });
  listener.Shutdown();
}

TEST_F(Listening, LetsTheOwnerAloneIn) {
  const MessageListener listener(path_);
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Listening, ReplacesWhatADeadProcessLeft) {
  std::ofstream(path_) << "left";
  MessageListener listener(path_);
  EXPECT_THAT(ConnectMessageSocket(path_), NotNull());
}

TEST_F(Listening, RemovesItsPathAtItsEnd) {
  { const MessageListener listener(path_); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THAT(ConnectMessageSocket(path_), IsNull());
}

TEST_F(Listening, TellsThatAPathIsTooLong) {
  const std::string path = folder_ / std::string(108, 'x');
  EXPECT_THAT([&] { MessageListener listener(path); },
              ::testing::ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr(path), HasSubstr("too long"), HasSubstr("state directory"))));
  EXPECT_THAT(ConnectMessageSocket(path), IsNull());
}

TEST_F(Listening, TellsThatTheFolderIsMissing) {
  EXPECT_THAT([&] { MessageListener listener(folder_ / "none/trainer.sock"); },
              ::testing::ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("none/trainer.sock"), HasSubstr("No such file"))));
}

// A stopped trainer accepts nobody; daemons that come and go must not hang on it.
TEST_F(Listening, NeverBlocksOnAListenerThatAcceptsNobody) {
  const MessageListener listener(path_);
  std::vector<std::unique_ptr<MessageSocket>> waiting;
  while (auto socket = ConnectMessageSocket(path_)) waiting.push_back(std::move(socket));
  EXPECT_LT(waiting.size(), 100u);
}

}  // namespace
}  // namespace agoq
