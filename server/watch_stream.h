// The reply stream of WatchJob.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_service.pb.h"
#include "server/message_stream.h"
#include "server/watch_hub.h"

namespace agoq {

class WatchStream
    : public MessageStream<grpc::ServerWriteReactor<v1::WatchJobResponse>, v1::WatchJobResponse>,
      public Watcher,
      public std::enable_shared_from_this<WatchStream> {
 public:
  // `hub` outlives it.
  static std::shared_ptr<WatchStream> Start(WatchHub& hub);

  // On the state thread: events that were missed, the snapshot, then what the hub publishes.
  void Begin(const v1::Job& snapshot, const std::vector<v1::Event>& missed);
  void OnUpdate(const v1::WatchJobResponse& update) override;
  void OnShutdown() override;

 protected:
  void OnGone() override;

 private:
  explicit WatchStream(WatchHub& hub) : hub_(hub) {}

  WatchHub& hub_;
  std::string job_id_;
};

}  // namespace agoq
