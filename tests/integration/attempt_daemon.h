// A test in the role of the worker daemon: attempts of agoq-trainer, and the socket to each.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/message_socket.h"
#include "proto/common/progress_page.h"
#include "tests/integration/trainer_process.h"

namespace agoq {

// Keys of one attempt. Thread-safe.
class KeyTable {
 public:
  using Answer = std::function<void(const std::string& value)>;

  void Set(const std::string& key, const std::string& value);
  void Wait(const std::string& key, const Answer& answer);

 private:
  std::mutex mutex_;  // guards all below
  std::map<std::string, std::string> values_;
  std::multimap<std::string, Answer> waiters_;
};

struct AttemptOptions {
  std::int64_t generation = 1;
  std::int64_t rank = 0;
  std::int64_t budget_bytes = 0;
  double grace_seconds = 60;
  v1::Device::Kind device_kind = v1::Device::KIND_CPU;
};

// A rank's folder below `work`, with the task that work/job.yaml says, and its trainer.
class AttemptUnderTest {
 public:
  AttemptUnderTest(const std::filesystem::path& work, const AttemptOptions& options);

  const std::filesystem::path& folder() const { return folder_; }
  TrainerProcess& process() { return *process_; }
  std::optional<RankPosition> Position() const { return ReadProgressPage(page_); }
  v1::TrainerEnd EndFile() const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path page_;
  std::unique_ptr<TrainerProcess> process_;
};

enum class Manners { kAnswers, kSilent };

// One connection to a trainer, from its construction on. A daemon that answers relays keys, and
// answers the end with Go.
class AttemptDaemon {
 public:
  // Waits for the trainer to listen. `keys` outlives it.
  AttemptDaemon(const AttemptUnderTest& attempt, KeyTable& keys,
                Manners manners = Manners::kAnswers);
  // The trainer sees its daemon go.
  ~AttemptDaemon();
  AttemptDaemon(const AttemptDaemon&) = delete;
  AttemptDaemon& operator=(const AttemptDaemon&) = delete;

  void Start();
  void Stop();

  // The first message that fits, of those that came and those to come within a minute; throws
  // std::runtime_error after that, or when the trainer hangs up.
  using Predicate = std::function<bool(const v1::FromTrainer&)>;
  v1::FromTrainer Await(const Predicate& fits);
  v1::TrainerStep AwaitStep(std::int64_t at_least);
  v1::TrainerEnd AwaitEnd();
  v1::TrainerCheckpoint AwaitCheckpoint();

  // All that came so far, in order.
  std::vector<v1::FromTrainer> messages();

 private:
  void Receive();
  void Take(const v1::FromTrainer& message);
  void Relay(const v1::FromTrainer& message);

  KeyTable& keys_;
  const Manners manners_;
  std::shared_ptr<MessageSocket> socket_;  // shared with keys that are waited for
  std::mutex mutex_;                       // guards all below but the thread
  std::condition_variable changed_;
  std::vector<v1::FromTrainer> messages_;
  bool is_closed_ = false;
  std::jthread thread_;
};

}  // namespace agoq
