// A coordinator and workers as real processes on this machine, on ports of their own, and what
// tests ask of them.
#pragma once

#include <grpcpp/channel.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_service.grpc.pb.h"
#include "proto/agoq/v1/worker_service.grpc.pb.h"
#include "tests/support/daemon_process.h"
#include "tests/support/temporary_folder.h"

namespace agoq {

struct ClusterOptions {
  std::string trainer;  // program of the workers
  std::vector<std::int64_t> worker_bytes = {std::int64_t{1} << 30};
  std::vector<std::string> coordinator_flags;
  std::vector<std::string> worker_flags;
  std::vector<std::string> environment;  // of the workers
};

class ServiceCluster {
 public:
  // Returns once every worker is ready.
  explicit ServiceCluster(const ClusterOptions& options);

  const std::filesystem::path& folder() const { return folder_.path(); }
  const std::string& address() const { return address_; }
  std::string coordinator_metrics() const { return coordinator_metrics_; }
  std::string worker_metrics(std::size_t index) const { return worker_metrics_[index]; }
  DaemonProcess& coordinator() { return *coordinator_; }
  DaemonProcess& worker(std::size_t index) { return *workers_[index]; }
  std::shared_ptr<grpc::Channel> channel() const { return channel_; }

  void StartCoordinator();
  void StartWorker(std::size_t index);
  // False: not all are ready within 15 s.
  bool WaitForWorkers();

  grpc::Status Submit(const v1::JobSpec& spec, v1::Job* job, const std::string& request_id = "");
  v1::Job Get(const std::string& job);
  // Waits for a terminal state, at most `patience`; the job as it then is.
  v1::Job WaitForEnd(const std::string& job,
                     std::chrono::seconds patience = std::chrono::seconds(60));
  bool WaitForState(const std::string& job, v1::JobState state,
                    std::chrono::seconds patience = std::chrono::seconds(30));
  bool WaitForStep(const std::string& job, std::int64_t step);
  v1::Worker GetWorker(const std::string& name);
  // What the events of a job say, oldest first.
  std::vector<std::string> Events(const std::string& job);

  // A small model on that many ranks; the real trainer needs `data` to exist.
  v1::JobSpec NewJob(const std::string& name, std::int64_t ranks, std::int64_t steps) const;

 private:
  const ClusterOptions options_;
  TemporaryFolder folder_;
  std::string address_;
  std::string coordinator_metrics_;
  std::vector<std::string> worker_metrics_;
  std::unique_ptr<DaemonProcess> coordinator_;
  std::vector<std::unique_ptr<DaemonProcess>> workers_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace agoq
