// Sends what the trainers write to the coordinator, piece by piece, on a thread of its own. A piece
// that did not arrive is sent again; training never waits for it.
#pragma once

#include <grpcpp/channel.h>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proto/agoq/v1/agent_service.grpc.pb.h"

namespace agoq {

class LogPusher {
 public:
  // `held` tells which ranks there are now; called on the pusher's thread. Their logs lie in
  // ATTEMPTS/JOB-GENERATION/trainer.log.
  LogPusher(std::shared_ptr<grpc::Channel> channel, std::filesystem::path attempts,
            std::function<std::vector<v1::RankId>()> held);
  // Sends what is there, once more.
  ~LogPusher();
  LogPusher(const LogPusher&) = delete;
  LogPusher& operator=(const LogPusher&) = delete;

 private:
  struct Source {
    v1::RankId id;
    std::int64_t offset = -1;  // that the coordinator has; negative: not asked yet
    int idle_rounds = 0;       // without anything new
    bool is_held = true;
  };

  void Run(const std::stop_token& stop);
  void PushAll();
  // False: the coordinator cannot be reached.
  bool Push(Source& source);
  std::filesystem::path LogOf(const v1::RankId& id) const;

  const std::unique_ptr<v1::AgentService::Stub> stub_;
  const std::filesystem::path attempts_;
  const std::function<std::vector<v1::RankId>()> held_;
  std::map<std::string, Source> sources_;  // by attempt; the thread's own
  std::mutex mutex_;                       // of the pause alone
  std::condition_variable_any pause_;
  std::jthread thread_;
};

}  // namespace agoq
