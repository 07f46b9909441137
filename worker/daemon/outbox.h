// Messages on their way to the coordinator.
#pragma once

#include <absl/base/thread_annotations.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

#include "proto/agoq/v1/agent_service.pb.h"

namespace agoq {

// Thread-safe. Closed, it drops what is put in: the Hello of the next session tells every rank's
// status.
class Outbox {
 public:
  void Open();
  void Close();
  void Put(v1::WorkerMessage message);
  // Waits for a message. Nothing: the time came, or a stop.
  std::optional<v1::WorkerMessage> Take(std::stop_token stop,
                                        std::chrono::steady_clock::time_point until);

 private:
  std::mutex mutex_;
  std::condition_variable_any put_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<v1::WorkerMessage> messages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace agoq
