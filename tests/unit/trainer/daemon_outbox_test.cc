#include "worker/trainer/daemon_outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace agoq {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::FromTrainer Step(std::int64_t step) {
  v1::FromTrainer message;
  message.mutable_step()->set_step(step);
  return message;
}

v1::FromTrainer Note(const std::string& text) {
  v1::FromTrainer message;
  message.mutable_note()->set_text(text);
  return message;
}

v1::FromTrainer KeyWaitFor(const std::string& key) {
  v1::FromTrainer message;
  message.mutable_key_wait()->set_key(key);
  return message;
}

v1::KeyAnswer AnswerOf(std::int64_t request, const std::string& value) {
  v1::KeyAnswer answer;
  answer.set_request(request);
  answer.set_value(value);
  return answer;
}

std::string Word(const v1::FromTrainer& message) {
  if (message.has_hello()) return message.hello().started() ? "hello again" : "hello";
  if (message.has_step()) return "step " + std::to_string(message.step().step());
  if (message.has_note()) return message.note().text();
  if (message.has_key_wait()) return "wait " + message.key_wait().key();
  return message.has_end() ? "end" : "?";
}

std::vector<std::string> Drain(DaemonOutbox* outbox) {
  std::vector<std::string> words;
  while (const std::optional<v1::FromTrainer> message = outbox->Next()) {
    words.push_back(Word(*message));
  }
  return words;
}

TEST(DaemonOutbox, BeginsEachConnectionWithHello) {
  DaemonOutbox outbox({});
  outbox.Post(Note("a"));
  outbox.Reconnect();
  outbox.Post(Note("b"));
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello", "a", "b"));
  outbox.SetStarted();
  outbox.Reconnect();
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello again"));
}

TEST(DaemonOutbox, AsksAgainWhatHasNoAnswer) {
  DaemonOutbox outbox({});
  const std::int64_t first = outbox.Ask(KeyWaitFor("a"));
  outbox.Ask(KeyWaitFor("b"));
  EXPECT_THAT(Drain(&outbox), ElementsAre("wait a", "wait b"));
  outbox.TakeAnswer(AnswerOf(first, "value"));
  outbox.Reconnect();
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello", "wait b"));
}

TEST(DaemonOutbox, KeepsTheFirstAnswer) {
  DaemonOutbox outbox({});
  const std::int64_t request = outbox.Ask(KeyWaitFor("a"));
  EXPECT_FALSE(outbox.AnswerTo(request).has_value());
  outbox.TakeAnswer(AnswerOf(request, "first"));
  outbox.TakeAnswer(AnswerOf(request, "second"));
  EXPECT_EQ(outbox.AnswerTo(request)->value(), "first");
  outbox.Withdraw(request);
  EXPECT_FALSE(outbox.AnswerTo(request).has_value());
}

TEST(DaemonOutbox, AsksNothingThatWasWithdrawn) {
  DaemonOutbox outbox({});
  outbox.Withdraw(outbox.Ask(KeyWaitFor("a")));
  EXPECT_THAT(Drain(&outbox), IsEmpty());
}

TEST(DaemonOutbox, TellsTheEndLastAndToEachDaemon) {
  DaemonOutbox outbox({});
  outbox.PostEnd({});
  outbox.Post(Note("a"));
  EXPECT_THAT(Drain(&outbox), ElementsAre("a", "end"));
  outbox.Reconnect();
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello", "end"));
}

TEST(DaemonOutbox, KeepsTheNewestStepsAndAllNotes) {
  DaemonOutbox outbox({});
  outbox.Post(Note("a"));
  const auto most = static_cast<std::int64_t>(kMostQueuedSteps);
  for (std::int64_t step = 1; step <= most + 10; ++step) outbox.Post(Step(step));
  const std::vector<std::string> words = Drain(&outbox);
  ASSERT_EQ(words.size(), kMostQueuedSteps + 1);
  EXPECT_EQ(words[0], "a");
  EXPECT_EQ(words[1], "step 11");
  EXPECT_EQ(words.back(), "step " + std::to_string(most + 10));
}

TEST(DaemonOutbox, HandsOnThePeakOfADroppedStep) {
  DaemonOutbox outbox({});
  v1::FromTrainer first = Step(1);
  first.mutable_step()->add_peak()->set_label("weights");
  outbox.Post(first);
  for (std::size_t i = 0; i < kMostQueuedSteps; ++i) outbox.Post(Step(2));
  EXPECT_EQ(outbox.Next()->step().peak(0).label(), "weights");
}

TEST(DaemonOutbox, SendsAgainWhatCouldNotBeSent) {
  DaemonOutbox outbox({});
  outbox.Post(Note("a"));
  outbox.Post(Note("b"));
  outbox.PutBack(*outbox.Next());
  outbox.Reconnect();
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello", "a", "b"));
}

TEST(DaemonOutbox, DoesNotSayHelloTwiceWhenItCouldNotBeSent) {
  DaemonOutbox outbox({});
  outbox.Reconnect();
  const std::optional<v1::FromTrainer> hello = outbox.Next();
  outbox.Reconnect();
  outbox.PutBack(*hello);
  EXPECT_THAT(Drain(&outbox), ElementsAre("hello"));
}

}  // namespace
}  // namespace agoq
