// Trainers' keys, set and waited for at the coordinator.
#pragma once

#include <absl/base/thread_annotations.h>
#include <grpcpp/channel.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "proto/agoq/v1/agent_service.grpc.pb.h"
#include "worker/daemon/key_service.h"

namespace agoq {

// A coordinator that is away is waited for until the request's deadline.
class KeyRelay : public KeyService {
 public:
  explicit KeyRelay(const std::shared_ptr<grpc::Channel>& channel);
  // Cancels what is under way; returns when no answer will come any more.
  ~KeyRelay() override;

  void Set(const v1::RankId& id, const v1::KeySet& request, Answer answer) override;
  void Wait(const v1::RankId& id, const v1::KeyWait& request, Answer answer) override;

 private:
  struct Call;

  void Begin(std::unique_ptr<Call> call);
  void Issue(Call* call);
  void Take(Call* call, const grpc::Status& status);
  bool IsStopping();
  void Drop(Call* call);

  const std::unique_ptr<v1::AgentService::Stub> stub_;
  std::mutex mutex_;
  std::condition_variable empty_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<Call*, std::unique_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace agoq
