// One WaitKey call: ends with the key, with the attempt, or with the client's patience, whichever
// comes first.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>

#include "proto/agoq/v1/agent_service.pb.h"

namespace agoq {

class KeyWait : public grpc::ServerUnaryReactor {
 public:
  // `response` lives until the call has ended.
  static std::shared_ptr<KeyWait> Start(std::string key, v1::WaitKeyResponse* response);

  // Any thread; the first one counts.
  void End(const absl::StatusOr<std::string>& value);

  void OnCancel() override;
  void OnDone() override { self_.reset(); }

 private:
  KeyWait(std::string key, v1::WaitKeyResponse* response)
      : key_(std::move(key)), response_(response) {}

  const std::string key_;
  absl::Mutex mutex_;
  v1::WaitKeyResponse* response_ ABSL_GUARDED_BY(mutex_);  // null: ended
  std::shared_ptr<KeyWait> self_;
};

}  // namespace agoq
