// SystemService: the coordinator itself.
#pragma once

#include <chrono>
#include <string>

#include "proto/agoq/v1/system_service.grpc.pb.h"
#include "server/calls.h"

namespace agoq {

class SystemServiceImpl : public v1::SystemService::CallbackService {
 public:
  // `calls` outlives it.
  SystemServiceImpl(Calls& calls, std::int64_t epoch, std::string metrics_url)
      : calls_(calls), epoch_(epoch), metrics_url_(std::move(metrics_url)) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerWriteReactor<v1::BackupResponse>* Backup(grpc::CallbackServerContext* context,
                                                       const v1::BackupRequest* request) override;

 private:
  Calls& calls_;
  const std::int64_t epoch_;
  const std::string metrics_url_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace agoq
