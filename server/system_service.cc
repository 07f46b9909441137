#include "server/system_service.h"

#include "proto/common/grpc_status.h"
#include "proto/common/protocol_version.h"
#include "proto/common/status.h"
#include "proto/common/version.h"

namespace agoq {
namespace {

class RefusedBackup : public grpc::ServerWriteReactor<v1::BackupResponse> {
 public:
  RefusedBackup() { Finish(ToGrpc(NotInThisVersion("SystemService/Backup"))); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerUnaryReactor* SystemServiceImpl::GetServerInfo(grpc::CallbackServerContext* context,
                                                           const v1::GetServerInfoRequest*,
                                                           v1::GetServerInfoResponse* response) {
  return calls_.Answer(context, {"SystemService", "GetServerInfo"}, [=, this](const Identity&) {
    const std::chrono::duration<double> up = std::chrono::steady_clock::now() - started_;
    response->set_version(Version());
    response->set_revision(Revision());
    response->set_protocol_min(kProtocolMin);
    response->set_protocol_max(kProtocolMax);
    response->set_epoch(epoch_);
    response->add_features("plan_auto");
    response->set_metrics_url(metrics_url_);
    response->set_uptime_seconds(up.count());
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::BackupResponse>* SystemServiceImpl::Backup(
    grpc::CallbackServerContext*, const v1::BackupRequest*) {
  return new RefusedBackup();
}

}  // namespace agoq
