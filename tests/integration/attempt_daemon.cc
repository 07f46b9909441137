#include "tests/integration/attempt_daemon.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "proto/common/job_plan.h"
#include "proto/common/plan_codec.h"
#include "proto/common/spec.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPatience{1};

v1::JobSpec ReadSpec(const fs::path& path) {
  JobReading reading = ReadJobFile(path);
  for (const SpecError& error : reading.errors) throw std::runtime_error(ToText(error));
  return std::move(reading.job);
}

v1::TrainerTask TaskOf(const v1::JobSpec& spec, const AttemptOptions& options) {
  v1::TrainerTask task;
  task.mutable_id()->set_job_id("job");
  task.mutable_id()->set_generation(options.generation);
  task.mutable_id()->set_rank(options.rank);
  task.set_world(spec.mesh().data());
  *task.mutable_spec() = spec;
  *task.mutable_plan() = EncodePlan(PlanJob(spec).plan);
  task.set_budget_bytes(options.budget_bytes);
  task.set_device_kind(options.device_kind);
  task.set_host("127.0.0.1");
  task.set_grace_seconds(options.grace_seconds);
  return task;
}

std::shared_ptr<MessageSocket> ConnectTo(const AttemptUnderTest& attempt) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto socket = ConnectMessageSocket(attempt.folder() / "trainer.sock")) return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("the trainer does not listen");
}

}  // namespace

void KeyTable::Set(const std::string& key, const std::string& value) {
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
    const auto [first, last] = waiters_.equal_range(key);
    for (auto waiter = first; waiter != last; ++waiter) answers.push_back(waiter->second);
    waiters_.erase(first, last);
  }
  for (const Answer& answer : answers) answer(value);
}

void KeyTable::Wait(const std::string& key, const Answer& answer) {
  std::string value;
  {
    const std::lock_guard lock(mutex_);
    const auto known = values_.find(key);
    if (known == values_.end()) {
      waiters_.emplace(key, answer);
      return;
    }
    value = known->second;
  }
  answer(value);
}

AttemptUnderTest::AttemptUnderTest(const fs::path& work, const AttemptOptions& options) {
  folder_ =
      work / ("job-" + std::to_string(options.generation) + "-rank" + std::to_string(options.rank));
  page_ = ProgressPagePath(folder_, options.rank);
  fs::create_directories(folder_);
  std::ofstream(folder_ / "task.pb", std::ios::binary)
      << TaskOf(ReadSpec(work / "job.yaml"), options).SerializeAsString();
  process_ = std::make_unique<TrainerProcess>(std::vector<std::string>{"attempt", folder_.string()},
                                              folder_);
}

v1::TrainerEnd AttemptUnderTest::EndFile() const {
  std::ifstream file(folder_ / "end.pb", std::ios::binary);
  v1::TrainerEnd end;
  if (!file || !end.ParseFromIstream(&file)) throw std::runtime_error("there is no end.pb");
  return end;
}

AttemptDaemon::AttemptDaemon(const AttemptUnderTest& attempt, KeyTable& keys, Manners manners)
    : keys_(keys), manners_(manners), socket_(ConnectTo(attempt)), thread_([this] { Receive(); }) {}

AttemptDaemon::~AttemptDaemon() { socket_->Shutdown(); }

void AttemptDaemon::Start() {
  v1::ToTrainer message;
  message.mutable_start();
  socket_->Send(message);
}

void AttemptDaemon::Stop() {
  v1::ToTrainer message;
  message.mutable_stop()->set_reason("the test wants it");
  socket_->Send(message);
}

v1::FromTrainer AttemptDaemon::Await(const Predicate& fits) {
  std::unique_lock lock(mutex_);
  auto found = messages_.end();
  changed_.wait_for(lock, kPatience, [&] {
    found = std::find_if(messages_.begin(), messages_.end(), fits);
    return found != messages_.end() || is_closed_;
  });
  if (found != messages_.end()) return *found;
  throw std::runtime_error(is_closed_ ? "the trainer hung up" : "no such message in time");
}

v1::TrainerStep AttemptDaemon::AwaitStep(std::int64_t at_least) {
  const auto fits = [=](const v1::FromTrainer& message) {
    return message.has_step() && message.step().step() >= at_least;
  };
  return Await(fits).step();
}

v1::TrainerEnd AttemptDaemon::AwaitEnd() {
  return Await([](const v1::FromTrainer& message) { return message.has_end(); }).end();
}

v1::TrainerCheckpoint AttemptDaemon::AwaitCheckpoint() {
  return Await([](const v1::FromTrainer& message) { return message.has_checkpoint(); })
      .checkpoint();
}

std::vector<v1::FromTrainer> AttemptDaemon::messages() {
  const std::lock_guard lock(mutex_);
  return messages_;
}

void AttemptDaemon::Receive() {
  v1::FromTrainer message;
  while (true) {
    const MessageSocket::Received received =
        socket_->Receive(&message, std::chrono::milliseconds(kPatience));
    if (received == MessageSocket::Received::kMessage) Take(message);
    if (received == MessageSocket::Received::kClosed) break;
  }
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

void AttemptDaemon::Take(const v1::FromTrainer& message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    changed_.notify_all();
  }
  if (manners_ == Manners::kSilent) return;
  Relay(message);
  if (!message.has_end()) return;
  v1::ToTrainer go;
  go.mutable_go();
  socket_->Send(go);
}

void AttemptDaemon::Relay(const v1::FromTrainer& message) {
  const auto answer_to = [socket = socket_](std::int64_t request) {
    return [socket, request](const std::string& value) {
      v1::ToTrainer answer;
      answer.mutable_key_answer()->set_request(request);
      answer.mutable_key_answer()->set_value(value);
      socket->Send(answer);
    };
  };
  if (message.has_key_set()) {
    keys_.Set(message.key_set().key(), message.key_set().value());
    answer_to(message.key_set().request())("");
  }
  if (message.has_key_wait()) {
    keys_.Wait(message.key_wait().key(), answer_to(message.key_wait().request()));
  }
}

}  // namespace agoq
