#include "worker/trainer/daemon_link.h"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/message_socket.h"
#include "worker/trainer/attempt_files.h"
#include "worker/trainer/daemon_outbox.h"
#include "worker/trainer/trainer_messages.h"

namespace agoq {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{50};  // between looks at listener and socket
constexpr std::chrono::seconds kLonelyEnd{1};
constexpr std::chrono::seconds kAnswerSlack{1};  // the daemon's own words on a time-out say more

v1::TrainerHello HelloOf(const DaemonLinkOptions& options) {
  v1::TrainerHello hello;
  hello.mutable_id()->set_job_id(options.job_id);
  hello.mutable_id()->set_generation(options.generation);
  hello.mutable_id()->set_rank(options.rank);
  hello.set_pid(::getpid());
  return hello;
}

}  // namespace

class DaemonLink::Impl {
 public:
  explicit Impl(const DaemonLinkOptions& options);
  ~Impl();

  StartSignal WaitForStart();
  const std::atomic<bool>& stop_request() const { return stop_request_; }
  void RequestStop();
  void Post(v1::FromTrainer message);
  std::string Ask(v1::FromTrainer question, const std::string& key,
                  SteadyClock::time_point deadline);
  void End(const TrainerEnding& ending);

 private:
  // On the reader's thread.
  void Read(const std::stop_token& stop);
  void ReadOnce();
  void Adopt(std::unique_ptr<MessageSocket> socket);
  void Handle(const v1::ToTrainer& message);
  void StopIfLeftAlone();
  void StopFor(const std::string& reason);

  // On the writer's thread.
  void Write(const std::stop_token& stop);

  void Drop(const std::shared_ptr<MessageSocket>& socket);

  const DaemonLinkOptions options_;
  MessageListener listener_;
  std::atomic<bool> stop_request_{false};
  bool has_told_stop_ = false;  // of the reader's thread
  std::mutex mutex_;            // guards all below but the threads
  std::condition_variable changed_;
  std::shared_ptr<MessageSocket> socket_;  // shared: reader and writer use it out of the lock
  SteadyClock::time_point left_alone_since_ = SteadyClock::now();
  bool was_left_alone_ = false;
  DaemonOutbox outbox_;
  bool is_started_ = false;
  bool may_go_ = false;
  std::jthread reader_;
  std::jthread writer_;
};

DaemonLink::Impl::Impl(const DaemonLinkOptions& options)
    : options_(options),
      listener_(options.folder / "trainer.sock"),
      outbox_(HelloOf(options)),
      reader_([this](const std::stop_token& stop) { Read(stop); }),
      writer_([this](const std::stop_token& stop) { Write(stop); }) {}

DaemonLink::Impl::~Impl() {
  const std::lock_guard lock(mutex_);  // a waiter that has just looked must not miss this
  reader_.request_stop();
  writer_.request_stop();
  if (socket_) socket_->Shutdown();
  changed_.notify_all();
}

StartSignal DaemonLink::Impl::WaitForStart() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_started_ || stop_request_; });
  if (!stop_request_) return StartSignal::kStart;
  return was_left_alone_ && !is_started_ ? StartSignal::kLeftAlone : StartSignal::kStop;
}

void DaemonLink::Impl::RequestStop() {
  const std::lock_guard lock(mutex_);
  stop_request_ = true;
  changed_.notify_all();
}

void DaemonLink::Impl::Post(v1::FromTrainer message) {
  const std::lock_guard lock(mutex_);
  outbox_.Post(std::move(message));
  changed_.notify_all();
}

std::string DaemonLink::Impl::Ask(v1::FromTrainer question, const std::string& key,
                                  SteadyClock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const std::int64_t request = outbox_.Ask(std::move(question));
  changed_.notify_all();
  std::optional<v1::KeyAnswer> answer;
  changed_.wait_until(lock, deadline + kAnswerSlack, [&] {
    answer = outbox_.AnswerTo(request);
    return answer || stop_request_;
  });
  outbox_.Withdraw(request);
  if (answer && answer->problem().empty()) return std::move(*answer->mutable_value());
  std::string why = "no answer from the daemon in time; see whether it reaches its coordinator";
  if (stop_request_) why = "a stop was requested before it came";
  if (answer) why = answer->problem();
  throw std::runtime_error("key '" + key + "': " + why);
}

void DaemonLink::Impl::End(const TrainerEnding& ending) {
  const v1::TrainerEnd end = EndMessage(ending, options_.rank);
  try {
    WriteEndFile(options_.folder, end);
  } catch (const std::exception& error) {
    std::cerr << "agoq-trainer: " + std::string(error.what()) + "\n" << std::flush;
  }
  const SteadyClock::time_point now = SteadyClock::now();
  std::unique_lock lock(mutex_);
  outbox_.PostEnd(end);
  changed_.notify_all();
  changed_.wait_until(lock, now + kLonelyEnd, [this] { return may_go_ || socket_; });
  if (!socket_) return;
  changed_.wait_until(lock, now + options_.grace, [this] { return may_go_; });
}

void DaemonLink::Impl::Read(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "daemon-read");
  while (!stop.stop_requested()) ReadOnce();
}

void DaemonLink::Impl::ReadOnce() {
  std::shared_ptr<MessageSocket> socket;
  {
    const std::lock_guard lock(mutex_);
    socket = socket_;
  }
  const auto patience = socket ? std::chrono::milliseconds(0) : kPatience;
  if (std::unique_ptr<MessageSocket> newer = listener_.Accept(patience)) {
    return Adopt(std::move(newer));
  }
  if (!socket) return StopIfLeftAlone();
  v1::ToTrainer message;
  const MessageSocket::Received received = socket->Receive(&message, kPatience);
  if (received == MessageSocket::Received::kMessage) Handle(message);
  if (received == MessageSocket::Received::kClosed) Drop(socket);
}

void DaemonLink::Impl::Adopt(std::unique_ptr<MessageSocket> socket) {
  const std::lock_guard lock(mutex_);
  if (socket_) socket_->Shutdown();
  socket_ = std::move(socket);
  outbox_.Reconnect();
  changed_.notify_all();
}

void DaemonLink::Impl::Drop(const std::shared_ptr<MessageSocket>& socket) {
  const std::lock_guard lock(mutex_);
  if (socket_ != socket) return;
  socket_ = nullptr;
  left_alone_since_ = SteadyClock::now();
  changed_.notify_all();
}

void DaemonLink::Impl::StopIfLeftAlone() {
  {
    const std::lock_guard lock(mutex_);
    if (SteadyClock::now() - left_alone_since_ < options_.grace) return;
    was_left_alone_ = true;
  }
  StopFor("no daemon has come for " + std::to_string(options_.grace.count()) + " ms");
}

void DaemonLink::Impl::StopFor(const std::string& reason) {
  if (!std::exchange(has_told_stop_, true)) options_.on_stop(reason);
  RequestStop();
}

void DaemonLink::Impl::Handle(const v1::ToTrainer& message) {
  if (message.has_stop()) return StopFor(message.stop().reason());
  const std::lock_guard lock(mutex_);
  if (message.has_start()) {
    is_started_ = true;
    outbox_.SetStarted();
  }
  if (message.has_go()) may_go_ = true;
  if (message.has_key_answer()) outbox_.TakeAnswer(message.key_answer());
  changed_.notify_all();
}

void DaemonLink::Impl::Write(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "daemon-write");
  while (true) {
    std::shared_ptr<MessageSocket> socket;
    std::optional<v1::FromTrainer> message;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        if (stop.stop_requested()) return true;
        if (socket_) message = outbox_.Next();
        return message.has_value();
      });
      if (stop.stop_requested()) return;
      socket = socket_;
    }
    if (socket->Send(*message)) continue;
    {
      const std::lock_guard lock(mutex_);
      outbox_.PutBack(*std::move(message));
    }
    Drop(socket);
  }
}

DaemonLink::DaemonLink(const DaemonLinkOptions& options) : impl_(std::make_unique<Impl>(options)) {}
DaemonLink::~DaemonLink() = default;

StartSignal DaemonLink::WaitForStart() { return impl_->WaitForStart(); }
const std::atomic<bool>& DaemonLink::stop_request() const { return impl_->stop_request(); }
void DaemonLink::RequestStop() { impl_->RequestStop(); }

void DaemonLink::SendStep(const StepReport& step) {
  v1::FromTrainer message;
  *message.mutable_step() = StepMessage(step);
  impl_->Post(std::move(message));
}

void DaemonLink::SendNote(const std::string& text) {
  v1::FromTrainer message;
  message.mutable_note()->set_text(text);
  impl_->Post(std::move(message));
}

void DaemonLink::SendCheckpoint(const std::string& path, std::int64_t step, double seconds) {
  v1::FromTrainer message;
  message.mutable_checkpoint()->set_path(path);
  message.mutable_checkpoint()->set_step(step);
  message.mutable_checkpoint()->set_seconds(seconds);
  impl_->Post(std::move(message));
}

void DaemonLink::SetKey(const std::string& key, const std::string& value,
                        SteadyClock::time_point deadline) {
  v1::FromTrainer question;
  question.mutable_key_set()->set_key(key);
  question.mutable_key_set()->set_value(value);
  impl_->Ask(std::move(question), key, deadline);
}

std::string DaemonLink::WaitKey(const std::string& key, SteadyClock::time_point deadline) {
  const std::chrono::duration<double> patience = deadline - SteadyClock::now();
  v1::FromTrainer question;
  question.mutable_key_wait()->set_key(key);
  question.mutable_key_wait()->set_timeout_seconds(patience.count());
  return impl_->Ask(std::move(question), key, deadline);
}

void DaemonLink::End(const TrainerEnding& ending) { impl_->End(ending); }

}  // namespace agoq
