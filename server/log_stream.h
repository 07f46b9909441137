// The reply streams of TailLogs, and those of them that follow a running job.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_service.pb.h"
#include "server/log_store.h"
#include "server/message_stream.h"

namespace agoq {

class LogStream
    : public MessageStream<grpc::ServerWriteReactor<v1::TailLogsResponse>, v1::TailLogsResponse>,
      public std::enable_shared_from_this<LogStream> {
 public:
  // `logs` outlives it.
  static std::shared_ptr<LogStream> Start(LogStore& logs);

  // State thread. Where to read; without `follow` what is there, then the end.
  void Begin(const v1::Job& job, const v1::TailLogsRequest& request);
  // State thread. What came since; `is_over`: no more will come.
  void Pump(bool is_over);

  const std::string& job_id() const { return job_id_; }
  std::int64_t generation() const { return generation_; }

 private:
  struct Position {
    v1::RankId id;
    std::int64_t offset = 0;
  };

  explicit LogStream(LogStore& logs) : logs_(logs) {}
  void Send(Position& position, bool is_over);

  LogStore& logs_;
  std::string job_id_;
  std::int64_t generation_ = 0;
  std::vector<Position> positions_;
};

// State thread alone.
class LogFollowers {
 public:
  void Add(const std::shared_ptr<LogStream>& stream) { streams_.push_back(stream); }
  // `is_over` tells whether that attempt of the job has ended.
  void Pump(const std::function<bool(const std::string& job, std::int64_t generation)>& is_over);
  void Shutdown();

 private:
  std::vector<std::weak_ptr<LogStream>> streams_;
};

}  // namespace agoq
